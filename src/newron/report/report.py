"""Write a report: gather the facts, render the page, put it on disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from newron._files import write_whole
from newron.model.model import Model
from newron.report.facts import gather
from newron.report.labels import Labels
from newron.report.origin import Origin
from newron.report.page import render
from newron.rules.ruleset import RuleSet
from newron.rules.scorecard import ScoreCard


def write(
    model: Model | ScoreCard,
    path: str | PathLike[str],
    X: ArrayLike,
    y: ArrayLike | None = None,
    *,
    title: str | None = None,
    names: Mapping[str, str] | None = None,
    classes: Mapping[Any, str] | None = None,
    target: str = "",
    noun: str = "row",
    source: str = "",
    purpose: str = "",
    fixed: str | Sequence[str] = (),
    seen: int | None = None,
    origin: Origin | None = None,
    rules: RuleSet | None = None,
    groups: str | tuple[str, ArrayLike] | None = None,
    offset: ArrayLike | None = None,
    seconds: float = 5.0,
) -> None:
    """Write one HTML file that shows a model or a score card; see :meth:`Model.report`."""
    labels = Labels(title, target, noun, source, purpose, names, classes)
    facts = gather(
        model, X, y, labels=labels, origin=origin, seen=seen, rules=rules, fixed=fixed,
        groups=groups, offset=offset, seconds=seconds,
    )  # fmt: skip
    write_whole(render(facts).encode("utf-8"), path)
