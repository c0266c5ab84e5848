"""What must hold of every picture: no text over another, none outside."""

import xml.etree.ElementTree as ET
from itertools import combinations

from newron.drawing.shapes import Label

_TOLERANCE = 0.01


def find_problems(labels, width: float, height: float) -> list[str]:
    """Tell which labels overlap or leave the picture."""
    boxes = [(label, label.box) for label in labels if label.text]
    found = []
    for i, (label, box) in enumerate(boxes):
        if not (box[0] > -_TOLERANCE and box[1] >= 0 and box[2] < width + _TOLERANCE):
            found.append(f"outside: {label.text!r} at {box}")
        if box[3] > height:
            found.append(f"below: {label.text!r} at {box}")
        found += [
            f"overlap: {label.text!r} and {other.text!r} at {box}"
            for other, its in boxes[i + 1 :]
            if _meet(box, its)
        ]
    return found


def find_colliding_boxes(svg: str, width: float, height: float) -> list[str]:
    """Tell which plots, sums, pills and chips overlap or leave the picture."""
    boxes = []
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect"):
        kind = (element.get("class") or "").split()
        if kind and (kind[0].startswith("box-") or kind[0] in ("pill", "chip")):
            x, y, w, h = (float(element.get(name)) for name in ("x", "y", "width", "height"))
            boxes.append((kind[0], (x, y, x + w, y + h)))
    found = [
        f"outside: {kind} at {box}"
        for kind, box in boxes
        if box[0] < 0 or box[1] < 0 or box[2] > width or box[3] > height
    ]
    pairs = combinations(boxes, 2)
    return found + [f"{a} over {b} at {p}" for (a, p), (b, q) in pairs if _meet(p, q)]


def _meet(a, b) -> bool:
    wide = min(a[2], b[2]) - max(a[0], b[0])
    high = min(a[3], b[3]) - max(a[1], b[1])
    return wide > _TOLERANCE and high > _TOLERANCE


def find_label(figure, text: str) -> Label:
    """Give the one label with this text."""
    (label,) = [label for label in figure.labels if label.text == text]
    return label
