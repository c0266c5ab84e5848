"""A scene as SVG text. No layout is decided here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from newron.drawing.markup import Markup, join, svg
from newron.drawing.palette import Theme, write_stylesheet
from newron.drawing.shapes import Dot, Drawable, Edge, Group, Label, Line, Rect, Scene

_XMLNS = "http://www.w3.org/2000/svg"
_BREAK = Markup("\n")
_THEMES = {"auto": "nw", "light": "nw nw-light", "dark": "nw nw-dark"}


def write_svg(scene: Scene, *, title: str, description: str, theme: Theme = "auto") -> str:
    """Return a scene as one self-contained SVG document."""
    width, height = _number(scene.width), _number(scene.height)
    style = Markup("<style>{}</style>").format(Markup(write_stylesheet()))  # noqa: S704 - our own
    page = svg("rect", {"class": "page", "width": width, "height": height})
    frame = {"xmlns": _XMLNS, **_make_frame(_THEMES[theme], ("0", "0", width, height))}
    return f"{svg('svg', frame, _write_scene(scene, title, description, style, page))}\n"


def write_inline(
    scene: Scene, *, title: str, description: str, top: float = 0.0, side: float = 0.0
) -> Markup:
    """Return a scene for a page that has the stylesheet; what is above ``top`` is cut off."""
    size = scene.width - 2 * side, scene.height - top
    frame = _make_frame("figure", [f"{value:g}" for value in (side, top, *size)])
    return svg("svg", {"xmlns": _XMLNS, **frame}, _write_scene(scene, title, description))


def write_chart(width: float, height: float, shapes: Iterable[Drawable], label: str) -> Markup:
    """Return shapes as a small picture of a page, with a label for screen readers."""
    frame = _make_frame("chart", [f"{value:g}" for value in (0.0, 0.0, width, height)])
    return svg("svg", {**frame, "aria-label": label}, *map(_write, shapes))


def _make_frame(style: str, box: Sequence[str]) -> dict[str, str]:
    size = {"width": box[2], "height": box[3]}
    return {"class": style, "viewBox": " ".join(box), **size, "role": "img"}


def _write_scene(scene: Scene, title: str, description: str, *head: Markup) -> Markup:
    edges = sorted(scene.edges, key=lambda edge: edge.on)  # what is on lies above
    shapes = [_write(shape) for shape in (*scene.panels, *edges, *scene.shapes)]
    about = svg("title", {}, title), svg("desc", {}, description)
    return join(_BREAK, _BREAK.join([*about, *head, *shapes]), _BREAK)


def _write(shape: Drawable) -> Markup:
    if isinstance(shape, Label):
        return _write_label(shape)
    if isinstance(shape, Rect):
        return _write_rect(shape)
    if isinstance(shape, Line):
        path = "M" + "L".join(f"{_number(x)} {_number(y)}" for x, y in shape.points)
        return svg("path", {"d": path, "class": shape.style, **shape.attributes})
    if isinstance(shape, Edge):
        return _write_edge(shape)
    if isinstance(shape, Dot):
        place = {"cx": _number(shape.x), "cy": _number(shape.y), "r": _number(shape.radius)}
        return svg("circle", {**place, "class": shape.style, **shape.attributes})
    return _write_group(shape)


def _write_group(group: Group) -> Markup:
    inner = _BREAK.join(map(_write, group.shapes))
    return svg("g", group.attributes, _write_title(group.title), _BREAK, inner, _BREAK)


def _write_title(title: str) -> Markup | None:
    return svg("title", {}, title) if title else None


def _write_label(label: Label) -> Markup:
    attributes = {
        "x": _number(label.x),
        "y": _number(label.y),
        "class": f"t-{label.size} {label.style}".strip(),
        "text-anchor": None if label.anchor == "start" else label.anchor,
        **label.attributes,
    }
    cut = label.title if label.title != label.text else ""
    return svg("text", attributes, label.text, _write_title(cut))


def _write_rect(rect: Rect) -> Markup:
    place = {"x": rect.x, "y": rect.y, "width": rect.width, "height": rect.height}
    numbers = {name: _number(value) for name, value in (place | {"rx": rect.radius}).items()}
    attributes = {**numbers, "class": rect.style, **rect.attributes}
    return svg("rect", attributes, _write_title(rect.title))


def _write_edge(edge: Edge) -> Markup:
    style = " ".join(filter(None, ["edge", "on" if edge.on else "", edge.style]))
    attributes = {"d": _find_path(edge), "class": style, "stroke-width": _number(edge.width)}
    return svg("path", {**attributes, **edge.attributes})


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
    middle = _number((edge.x0 + edge.x1) / 2)
    return f"M{x0} {y0}C{middle} {y0} {middle} {y1} {x1} {y1}"


def _number(value: float) -> str:
    """Write a position in the picture: a tenth of a pixel is enough."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text
