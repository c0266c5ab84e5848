"""Colours, type sizes and the stylesheet of figures. The only place with colours in it."""

from __future__ import annotations

import math

Theme = str  # "auto", "light" or "dark"

# Contrast with the page: ink 16, muted 6.5, line and rug 3 or more; the three tints differ in
# luminance, so that they are three greys in print.
LIGHT = {
    "bg": "#FFFFFF",
    "surface": "#F5F7F9",
    "ink": "#15202B",
    "muted": "#525F6C",
    "line": "#8994A0",
    "hair": "#DDE3E9",
    "rug": "#7C8FA3",
    "blue": "#1A5A96",
    "blue-tint": "#E8F1FA",
    "green": "#0A6548",
    "green-tint": "#C6E6D5",
    "red": "#A2361B",
    "red-tint": "#F3C4B2",
}
DARK = {
    "bg": "#11161C",
    "surface": "#1A2129",
    "ink": "#EEF2F6",
    "muted": "#A9B5C1",
    "line": "#5C6A77",
    "hair": "#2D3741",
    "rug": "#71869B",
    "blue": "#86BDF2",
    "blue-tint": "#172838",
    "green": "#74D6A9",
    "green-tint": "#1E4B3B",
    "red": "#F6A287",
    "red-tint": "#6A3325",
}

FONT = '"Helvetica Neue", Helvetica, Arial, "Liberation Sans", Arimo, sans-serif'

# Pixels at a width of 1200.
SIZES = {
    "title": 19.0,
    "sub": 13.0,
    "head": 13.0,
    "name": 13.0,
    "cond": 12.5,
    "value": 12.5,
    "note": 11.5,
    "tick": 11.0,
    "sum": 22.0,
    "out": 17.0,
}
BOLD = frozenset({"title", "head", "name", "value", "sum", "out"})

_THINNEST, _THICKEST = 1.0, 6.0

_RULES = """
.nw{font-family:FONT;font-variant-numeric:tabular-nums}
.nw text{fill:var(--nw-ink)}
.nw .b{font-weight:700}
.nw .m{fill:var(--nw-muted)}
.nw .halo{paint-order:stroke;stroke:var(--nw-bg);stroke-width:4px;stroke-linejoin:round}
.nw .c-green{fill:var(--nw-green)}
.nw .c-red{fill:var(--nw-red)}
.nw .page{fill:var(--nw-bg)}
.nw .panel{fill:var(--nw-surface)}
.nw .hair{stroke:var(--nw-hair);stroke-width:1;fill:none}
.nw .box-blue{fill:var(--nw-blue-tint);stroke:var(--nw-blue);stroke-width:1}
.nw .box-green{fill:var(--nw-green-tint);stroke:var(--nw-green);stroke-width:1.5}
.nw .box-red{fill:var(--nw-red-tint);stroke:var(--nw-red);stroke-width:2}
.nw .axis{stroke:var(--nw-blue);stroke-opacity:.35;stroke-width:1;fill:none}
.nw .axis-red{stroke:var(--nw-red);stroke-opacity:.45;stroke-width:1;fill:none}
.nw .cut{stroke:var(--nw-ink);stroke-width:1;stroke-dasharray:2 2.5;fill:none}
.nw .curve,.nw .curve-red{fill:none;stroke-linejoin:round;stroke-linecap:round}
.nw .curve{stroke:var(--nw-blue);stroke-width:2.4}
.nw .curve-red{stroke:var(--nw-red);stroke-width:2.6}
.nw .bar{fill:var(--nw-blue)}
.nw .bar-off{fill:var(--nw-blue);fill-opacity:.28}
.nw .rug{fill:var(--nw-rug)}
.nw .edge{stroke:var(--nw-line);fill:none;stroke-linecap:round}
.nw .edge.on{stroke:var(--nw-ink)}
.nw .edge.fold{stroke-dasharray:1 5}
.nw .dot{fill:var(--nw-ink);stroke:var(--nw-bg);stroke-width:2}
.nw .pill{fill:var(--nw-bg);stroke:var(--nw-line);stroke-width:1}
.nw .pill.on{fill:var(--nw-ink);stroke:var(--nw-ink)}
.nw text.points{fill:var(--nw-muted)}
.nw text.points.on{fill:var(--nw-bg)}
.nw text.val{fill:var(--nw-muted)}
.nw text.val.on{fill:var(--nw-ink)}
.nw .chip{fill:var(--nw-surface);stroke:var(--nw-line);stroke-dasharray:3 3}
.nw .meter{fill:var(--nw-hair)}
.nw .meter-on{fill:var(--nw-red)}
.nw .meter-low{fill:var(--nw-rug)}
.nw .tie{stroke:var(--nw-red);stroke-width:2;fill:none}
"""


def edge_width(influence: float) -> float:
    """Return the width of a line: twice the width is four times the influence."""
    share = math.sqrt(min(max(influence, 0.0), 1.0))
    return round(_THINNEST + (_THICKEST - _THINNEST) * share, 2)


def write_stylesheet() -> str:
    """Write the rules of a figure; its colours are CSS variables that follow the reader."""
    light, dark = write_variables(LIGHT), write_variables(DARK)
    sizes = "".join(
        f".nw .t-{name}{{font-size:{size:g}px{';font-weight:700' if name in BOLD else ''}}}\n"
        for name, size in SIZES.items()
    )
    return (
        f".nw{{{light};background:var(--nw-bg)}}\n"
        f"@media (prefers-color-scheme:dark){{.nw:not(.nw-light){{{dark}}}}}\n"
        f".nw.nw-dark{{{dark}}}\n"
        f"@media print{{svg.nw.nw{{{light}}}}}"
        f"{_RULES.replace('FONT', FONT)}{sizes}"
    )


def write_variables(colours: dict[str, str]) -> str:
    """Return colours as CSS variables."""
    return ";".join(f"--nw-{name}:{value}" for name, value in colours.items())
