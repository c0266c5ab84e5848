"""SVG to PNG and PDF by Typst, which needs no browser and no system libraries."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Literal

from newron._extras import import_extra
from newron.drawing.palette import DARK, FONT, LIGHT
from newron.drawing.shapes import Label

_MEDIA = re.compile(r"@media[^{]*\{[^{}]*\{[^{}]*\}\}")
_VARIABLE = re.compile(r"var\(--nw-([a-z-]+)\)")
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)" role="img"')
_TEXT = re.compile(r"<text( )")
_FAMILIES = {"Helvetica Neue", "Helvetica", "Arial", "Liberation Sans", "Arimo"}
_PAGE = """#set page(width: {width}pt, height: {height}pt, margin: 0pt)
#set document(date: none)
#image(bytes(sys.inputs.svg), format: "svg", width: 100%)
"""
_POINTS, _PIXELS = 0.75, 96.0  # points of a pixel, pixels of an inch


def resolve_colours(svg: str) -> str:
    """Return the SVG with plain colours: those of its theme, light where it follows the reader."""
    dark = 'class="nw nw-dark"' in svg.partition(">")[0]
    colours = DARK if dark else LIGHT
    return _VARIABLE.sub(lambda found: colours[found[1]], _MEDIA.sub("", svg))


def fit_fonts(svg: str, labels: Sequence[Label], families: Sequence[str]) -> str:
    """Return the SVG for the fonts that there are.

    Where none is as wide as the labels were counted, another is squeezed into their widths.
    """
    if _FAMILIES & set(families):
        return svg
    sans = (name for name in families if "Sans" in name and "Mono" not in name)
    held = iter(labels)

    def hold(found: re.Match[str]) -> str:
        width = next(held).width
        return f'<text textLength="{width:.1f}" lengthAdjust="spacingAndGlyphs"{found[1]}'

    named = svg.replace(FONT, f'"{next(sans, "sans-serif")}"')
    return _TEXT.sub(hold, named)


def make_png(svg: str, labels: Sequence[Label], scale: float) -> bytes:
    """Draw an SVG as PNG, with so many pixels for each of its own."""
    return _typeset(svg, labels, "png", _PIXELS * scale)


def make_pdf(svg: str, labels: Sequence[Label]) -> bytes:
    """Draw an SVG as a PDF of one page, as large as the picture."""
    return _typeset(svg, labels, "pdf", _PIXELS)


def _typeset(svg: str, labels: Sequence[Label], kind: Literal["png", "pdf"], ppi: float) -> bytes:
    typst = import_extra("typst", f"to write {kind.upper()} with", "figures")
    size = _SIZE.search(svg)
    assert size is not None  # noqa: S101 - our own SVG
    width, height = (_POINTS * float(number) for number in size.groups())
    page = _PAGE.format(width=width, height=height).encode()
    plain = fit_fonts(resolve_colours(svg), labels, typst.Fonts().families())
    inputs = {"svg": plain}
    made = typst.compile(page, format=kind, ppi=ppi, sys_inputs=inputs, timestamp=0)
    return bytes(made)
