"""What must hold of every picture: no text over another, none outside."""

import xml.etree.ElementTree as ET

import numpy as np

from newron.drawing.shapes import Label

_TOLERANCE = 0.01


def find_problems(labels, width: float, height: float) -> list[str]:
    """Tell which labels overlap or leave the picture."""
    return _find_problems([(repr(one.text), one.box) for one in labels if one.text], width, height)


def find_colliding_boxes(svg: str, width: float, height: float) -> list[str]:
    """Tell which plots, sums, pills and chips overlap or leave the picture."""
    boxes = []
    for element in ET.fromstring(svg).iter("{http://www.w3.org/2000/svg}rect"):
        kind = (element.get("class") or "").split()
        if kind and (kind[0].startswith("box-") or kind[0] in ("pill", "chip")):
            x, y, w, h = (float(element.get(name)) for name in ("x", "y", "width", "height"))
            boxes.append((kind[0], (x, y, x + w, y + h)))
    return _find_problems(boxes, width, height)


def _find_problems(named, width: float, height: float) -> list[str]:
    names, boxes = [name for name, _ in named], np.array([box for _, box in named]).reshape(-1, 4)
    low, high = boxes[:, :2], boxes[:, 2:]
    outside = (low[:, 0] <= -_TOLERANCE) | (low[:, 1] < 0) | (high[:, 0] >= width + _TOLERANCE)
    shared = np.minimum(high[:, None], high) - np.maximum(low[:, None], low)
    meet = np.triu((shared > _TOLERANCE).all(axis=2), 1)
    return [
        *(f"outside: {names[i]} at {boxes[i]}" for i in np.flatnonzero(outside)),
        *(f"below: {names[i]} at {boxes[i]}" for i in np.flatnonzero(high[:, 1] > height)),
        *(f"overlap: {names[i]} and {names[j]} at {boxes[i]}" for i, j in np.argwhere(meet)),
    ]


def find_label(figure, text: str) -> Label:
    """Give the one label with this text."""
    (label,) = [label for label in figure.labels if label.text == text]
    return label
