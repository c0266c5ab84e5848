"""The figures that are kept, as they should look.

``python scripts/draw_figures golden`` writes them anew; look at what changed before you keep it.
"""

from collections.abc import Callable
from pathlib import Path

from figures.networks import (
    CARD_ROW,
    list_robots,
    make_card,
    make_flowers,
    make_hostile,
    make_monk2,
    make_patients,
    make_perceptron,
    make_wide,
)
from newron.figures import Figure, draw

FOLDER = Path(__file__).with_name("golden")

FIGURES: dict[str, Callable[[], Figure]] = {
    "monk2": lambda: draw(make_monk2(), list_robots(), row=[1, 3, 1, 2, 4, 2], title="MONK-2"),
    "monk2_narrow": lambda: draw(make_monk2(), row=[1, 3, 1, 2, 4, 2], narrow=True),
    "card": lambda: draw(make_card(), make_patients(), row=CARD_ROW, row_name="patient 22"),
    "card_narrow": lambda: draw(make_card(), row=CARD_ROW, narrow=True),
    "flowers": lambda: draw(make_flowers(), theme="dark"),
    "perceptron": lambda: draw(make_perceptron(), row=[1.0, 3.0], theme="light"),
    "folded": lambda: draw(make_wide(12, 3, direct=2), row=[40.0] * 12),
    "hostile": lambda: draw(make_hostile()),
}


def write_goldens() -> None:
    """Write all of them."""
    FOLDER.mkdir(exist_ok=True)
    for name, make in FIGURES.items():
        make().save(FOLDER / f"{name}.svg")
