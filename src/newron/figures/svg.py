"""A scene as SVG text. No layout is decided here."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

from newron.figures.palette import Theme, write_stylesheet
from newron.figures.shapes import Attributes, Dot, Edge, Group, Label, Line, Rect, Scene, Shape

__all__ = ["write_shapes", "write_svg"]

_THEMES = {"auto": "nw", "light": "nw nw-light", "dark": "nw nw-dark"}


def write_svg(scene: Scene, *, title: str, description: str, theme: Theme = "auto") -> str:
    """Write a scene as one self-contained SVG document."""
    width, height = _number(scene.width), _number(scene.height)
    edges = sorted(scene.edges, key=lambda edge: edge.on)  # what is on lies above
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" class="{_THEMES[theme]}" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img">',
        f"<title>{escape(title)}</title>",
        f"<desc>{escape(description)}</desc>",
        f"<style>{write_stylesheet()}</style>",
        f'<rect class="page" width="{width}" height="{height}"/>',
        *map(_write, scene.panels),
        *map(_write, edges),
        *map(_write, scene.shapes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def write_shapes(shapes: Iterable[Shape]) -> str:
    """Write shapes as SVG elements, for a picture that someone else frames."""
    return "\n".join(map(_write, shapes))


def _write(shape: Shape) -> str:
    if isinstance(shape, Label):
        return _write_label(shape)
    if isinstance(shape, Rect):
        return _write_rect(shape)
    if isinstance(shape, Line):
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in shape.points)
        return f'<path d="{path}" class="{shape.style}"{_write_attributes(shape.attributes)}/>'
    if isinstance(shape, Edge):
        return _write_edge(shape)
    if isinstance(shape, Dot):
        return (
            f'<circle cx="{_number(shape.x)}" cy="{_number(shape.y)}" '
            f'r="{_number(shape.radius)}" class="dot"{_write_attributes(shape.attributes)}/>'
        )
    return _write_group(shape)


def _write_group(group: Group) -> str:
    title = f"<title>{escape(group.title)}</title>" if group.title else ""
    inner = "\n".join(map(_write, group.shapes))
    return f"<g{_write_attributes(group.attributes)}>{title}\n{inner}\n</g>"


def _write_label(label: Label) -> str:
    style = f"t-{label.size} {label.style}".strip()
    anchor = "" if label.anchor == "start" else f' text-anchor="{label.anchor}"'
    title = ""
    if label.title and label.title != label.text:
        title = f"<title>{escape(label.title)}</title>"
    return (
        f'<text x="{_number(label.x)}" y="{_number(label.y)}" class="{style}"{anchor}'
        f"{_write_attributes(label.attributes)}>{escape(label.text)}{title}</text>"
    )


def _write_rect(rect: Rect) -> str:
    head = (
        f'<rect x="{_number(rect.x)}" y="{_number(rect.y)}" width="{_number(rect.width)}" '
        f'height="{_number(rect.height)}" rx="{_number(rect.radius)}" class="{rect.style}"'
        f"{_write_attributes(rect.attributes)}"
    )
    return f"{head}><title>{escape(rect.title)}</title></rect>" if rect.title else f"{head}/>"


def _write_edge(edge: Edge) -> str:
    style = " ".join(filter(None, ["edge", "on" if edge.on else "", edge.style]))
    return (
        f'<path d="{_find_path(edge)}" class="{style}" stroke-width="{_number(edge.width)}"'
        f"{_write_attributes(edge.attributes)}/>"
    )


def _find_path(edge: Edge) -> str:
    x0, y0, x1, y1 = map(_number, (edge.x0, edge.y0, edge.x1, edge.y1))
    if edge.form == "straight":
        return f"M{x0} {y0}L{x1} {y1}"
    if edge.form == "gutter":  # sideways into a vertical line, and down along it
        return f"M{x0} {y0}Q{x1} {y0} {x1} {_number(edge.y0 + 22)}V{y1}"
    if edge.form == "elbow":
        return f"M{x0} {y0}Q{x1} {y0} {x1} {y1}"
    if edge.form == "rise":  # sideways, then up
        return f"M{x0} {y0}H{_number(edge.x1 - 20)}Q{x1} {y0} {x1} {_number(edge.y0 - 20)}V{y1}"
    if edge.form == "turn":  # down, then sideways
        return f"M{x0} {y0}Q{x0} {y1} {_number(edge.x0 - 20)} {y1}H{x1}"
    if edge.form == "down":
        middle = _number((edge.y0 + edge.y1) / 2)
        return f"M{x0} {y0}C{x0} {middle} {x1} {middle} {x1} {y1}"
    middle = _number((edge.x0 + edge.x1) / 2)
    return f"M{x0} {y0}C{middle} {y0} {middle} {y1} {x1} {y1}"


def _write_attributes(attributes: Attributes) -> str:
    return "".join(
        f' {name}="{escape(value) if isinstance(value, str) else _exact(value)}"'
        for name, value in attributes.items()
    )


def _number(value: float) -> str:
    """Write a place in the picture: a tenth of a pixel is enough."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _exact(value: float) -> str:
    return repr(value).removesuffix(".0")
