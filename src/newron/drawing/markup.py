"""Elements of HTML and SVG. Text is escaped by MarkupSafe, not by convention.

Whatever is not :class:`Markup` is text: it is cleaned and escaped when it enters an element or a
template, so that no name of a table can become markup by oversight. Templates are literals,
``Markup("<p>{}</p>").format(name)``; ruff's rule S704 reports any that are not.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

import markupsafe

from newron.formatting import clean

Attribute = str | int | float | None


class Markup(markupsafe.Markup):
    """Text of HTML or SVG; what is put into it is text unless it is markup itself.

    >>> print(Markup("<b>{}</b>").format("<i>"))
    <b>&lt;i&gt;</b>
    """

    __slots__ = ()

    @classmethod
    def escape(cls, s: Any, /) -> Markup:
        """Return markup as it is, anything else cleaned and escaped."""
        return cls(_escape(s))


def join(*content: object) -> Markup:
    """Return content one after another; lists are unpacked, None is left out.

    >>> print(join("a & b", None, [html("b", "c"), 1]))
    a &amp; b<b>c</b>1
    """
    return Markup("".join(_escape_all(content)))  # noqa: S704 - of escaped parts


def _escape_all(content: Iterable[object]) -> Iterable[str]:
    for one in content:
        if isinstance(one, str):
            yield _escape(one)
        elif isinstance(one, Iterable):
            yield from _escape_all(one)
        elif one is not None:
            yield _escape(one)


def _escape(one: object) -> str:
    if isinstance(one, markupsafe.Markup):
        return one
    text = str(one)
    return escape(text if text.isprintable() else clean(text))


def html(tag: str, /, *content: object, **attributes: Attribute) -> Markup:
    """Return an element of HTML; ``class_`` and ``data_x`` name the attributes class and data-x.

    >>> print(html("td", "1 < 2", class_="num", data_part="1:0", title=None))
    <td class="num" data-part="1:0">1 &lt; 2</td>
    """
    named = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
    return _wrap(tag, named, join(*content))


def svg(tag: str, attributes: Mapping[str, Attribute], *content: object) -> Markup:
    """Return an element of SVG; without content it closes itself.

    >>> print(svg("path", {"d": "M0 0", "class": None, "data-lo": 1.0}))
    <path d="M0 0" data-lo="1"/>
    """
    if all(one is None for one in content):
        return Markup(f"<{tag}{_write_attributes(attributes)}/>")  # noqa: S704 - escaped there
    return _wrap(tag, attributes, join(*content))


def _wrap(tag: str, attributes: Mapping[str, Attribute], inner: Markup) -> Markup:
    return Markup(f"<{tag}{_write_attributes(attributes)}>{inner}</{tag}>")  # noqa: S704


def _write_attributes(attributes: Mapping[str, Attribute]) -> str:
    return "".join(
        f' {name}="{_escape(value if isinstance(value, str) else _write(value))}"'
        for name, value in attributes.items()
        if value is not None
    )


def _write(value: float) -> str:
    return repr(value).removesuffix(".0")


def bdi(text: object) -> Markup:
    """Return a text of the data that does not turn the text around it."""
    return html("bdi", text)


def write_plain(text: str) -> str:
    """Return a text as HTML for a notebook, line by line as it is; long lines are wrapped.

    >>> write_plain("1 < 2")
    '<pre style="white-space:pre-wrap">1 &lt; 2</pre>'
    """
    lines = Markup("\n").join(text.splitlines())
    return str(html("pre", lines, style="white-space:pre-wrap"))
