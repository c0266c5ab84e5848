"""The files that a fit writes: a folder of them, or the model alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from newron.command.files import check_free, stage_folder
from newron.command.printing import find_card, write_card
from newron.command.rules import write_text
from newron.errors import InputError
from newron.figures import draw
from newron.model import Model
from newron.rules import RuleSet

MODEL, FIGURE, REPORT = "model.json", "network.svg", "report.html"
CARD, RULES, SHAPES = "card.txt", "rules.txt", "shapes.txt"
_NAMES = (MODEL, FIGURE, REPORT, CARD, RULES, SHAPES)
_REPORTED = "open it in a browser: rules, network, every row"


@dataclass(frozen=True)
class Outputs:
    """Where the results of a fit go.

    - ``path``: A folder, or the model's file where the name ends in ``.json``.
    - ``report``: Where the report goes; by default into the folder.
    - ``more``: Names of further files of the folder.
    - ``force``: Whether to overwrite what exists.
    """

    path: Path
    report: Path | None = None
    more: tuple[str, ...] = ()
    force: bool = False

    @property
    def alone(self) -> bool:
        """Whether the model is written without a folder."""
        return self.path.suffix == ".json"

    @property
    def model(self) -> Path:
        """The model's file."""
        return self.path if self.alone else self.path / MODEL

    def locate(self, written: Iterable[str]) -> list[str]:
        """Return the paths of files as :meth:`write` names them."""
        apart = {str(self.path), str(self.report)}
        return [name if name in apart else str(self.path / name) for name in written]

    def check(self) -> None:
        """Raise where something would be overwritten, before time is spent."""
        paths = [] if self.report is None else [self.report]
        if self.alone:
            paths.append(self.path)
        elif self.path.is_dir():
            paths += [self.path / name for name in (*_NAMES, *self.more)]
        elif self.path.exists():
            raise InputError(f"{self.path}: expected a folder or a name in .json, got a file")
        else:
            paths.append(self.path)
        check_free(paths, force=self.force)

    def write(
        self,
        model: Model,
        rules: RuleSet | None,
        write_report: Callable[[Path], None],
        more: Mapping[str, str] | None = None,
    ) -> dict[str, str]:
        """Write all files or none; return their names, and what they are.

        ``write_report`` writes the report to a path, ``more`` has the content of further
        files.
        """
        self.check()
        if self.alone:
            model.save(self.path)
            written = {str(self.path): "the model"}
        else:
            written = self._write_folder(model, rules, write_report, more or {})
        if self.report is not None:
            write_report(self.report)
            written = {str(self.report): _REPORTED, **written}
        return written

    def write_text(
        self,
        save: Callable[[Path], None],
        file: str,
        text: str,
        write_report: Callable[[Path], None] | None = None,
    ) -> dict[str, str]:
        """Write the model and a text, all or none; return their names, and what they are."""
        self.check()
        if self.alone:
            save(self.path)
            written = {str(self.path): "the model"}
        else:
            written = self._write_text_folder(save, file, text, write_report)
        if self.report is not None and write_report is not None:
            write_report(self.report)
            written = {str(self.report): _REPORTED, **written}
        return written

    def _write_text_folder(
        self,
        save: Callable[[Path], None],
        file: str,
        text: str,
        write_report: Callable[[Path], None] | None,
    ) -> dict[str, str]:
        written = {MODEL: "the model", file: "what is printed above"}
        with stage_folder(self.path, force=self.force) as stage:
            save(stage / MODEL)
            (stage / file).write_text(f"{text}\n", encoding="utf-8")
            if self.report is None and write_report is not None:
                write_report(stage / REPORT)
                written = {REPORT: _REPORTED, **written}
        self._remove_others(written)
        return written

    def _remove_others(self, written: Iterable[str]) -> None:
        """Remove files of a model before, which is overwritten."""
        for name in {*_NAMES} - {*written}:
            (self.path / name).unlink(missing_ok=True)

    def _write_folder(
        self,
        model: Model,
        rules: RuleSet | None,
        write_report: Callable[[Path], None],
        more: Mapping[str, str],
    ) -> dict[str, str]:
        text, content, what = _write_text(model, rules)
        with stage_folder(self.path, force=self.force) as stage:
            for name, lines in {text: content, **more}.items():
                (stage / name).write_text(lines, encoding="utf-8")
            draw(model).save(stage / FIGURE)
            model.save(stage / MODEL)
            if self.report is None:
                write_report(stage / REPORT)
        written = {text: what, FIGURE: "the figure", MODEL: "the model", **dict.fromkeys(more, "")}
        if self.report is None:
            written = {REPORT: _REPORTED, **written}
        self._remove_others(written)
        return written


def _write_text(model: Model, rules: RuleSet | None) -> tuple[str, str, str]:
    """Return the name of the file that people read, its content, and what it is."""
    card = find_card(model)
    if card is not None:
        return CARD, write_card(card), "the score card above"
    if rules is None:
        return SHAPES, f"{model.shapes()}\n", "what each function does"
    return RULES, write_text(rules), "the rules above"


def name_folder(data: Path) -> Path:
    """Name the folder for the results of a file: heart-newron for data/heart.csv.gz.

    >>> str(name_folder(Path("data/heart.csv.gz")))
    'heart-newron'
    """
    return Path(f"{data.name.removesuffix('.gz').rpartition('.')[0] or data.name}-newron")
