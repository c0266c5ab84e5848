"""The files that a fit writes: a folder of them, or the model alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from newron.command.files import check_free, stage_folder
from newron.command.reading import find_card, write_card
from newron.command.rules import to_text
from newron.figures import draw
from newron.model import Model
from newron.rules import RuleSet

__all__ = ["Outputs"]

MODEL, FIGURE = "model.json", "network.svg"
CARD, RULES, SHAPES = "card.txt", "rules.txt", "shapes.txt"


@dataclass(frozen=True)
class Outputs:
    """Where the results of a fit go.

    Parameters
    ----------
    path : Path
        A folder, or the model's file where the name ends in ``.json``.
    more : tuple of str
        Names of further files.
    force : bool
        Whether to overwrite what exists.
    """

    path: Path
    more: tuple[str, ...] = ()
    force: bool = False

    @property
    def alone(self) -> bool:
        """Whether the model alone is written."""
        return self.path.suffix == ".json"

    @property
    def model(self) -> Path:
        """The model's file."""
        return self.path if self.alone else self.path / MODEL

    def check(self) -> None:
        """Refuse to overwrite, before time is spent."""
        if self.alone or not self.path.is_dir():
            check_free([self.path], force=self.force)
        else:
            names = (MODEL, FIGURE, CARD, RULES, SHAPES, *self.more)
            check_free([self.path / name for name in names], force=self.force)

    def write(
        self, model: Model, rules: RuleSet | None, more: Mapping[str, str] | None = None
    ) -> dict[str, str]:
        """Write all files or none; give their names, and what they are.

        ``more`` has the content of further files.
        """
        self.check()
        if self.alone:
            model.save(self.path)
            return {self.path.name: "the model"}
        text, told, what = _write_text(model, rules)
        with stage_folder(self.path, force=self.force) as stage:
            (stage / text).write_text(told, encoding="utf-8")
            draw(model).save(stage / FIGURE)
            model.save(stage / MODEL)
            for name, content in (more or {}).items():
                (stage / name).write_text(content, encoding="utf-8")
        written = {text: what, FIGURE: "the figure", MODEL: "the model"}
        return {**written, **dict.fromkeys(more or {}, "")}


def _write_text(model: Model, rules: RuleSet | None) -> tuple[str, str, str]:
    """Give the name of the file that people read, its content, and what it is."""
    card = find_card(model)
    if card is not None:
        return CARD, write_card(card), "the score card above"
    if rules is None:
        return SHAPES, f"{model.shapes()}\n", "what each function does"
    return RULES, to_text(rules), "the rules above"
