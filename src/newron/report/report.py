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

__all__ = ["write"]


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
    seconds: float = 5.0,
) -> None:
    """Write one HTML file that shows a model to people: it opens from disk and asks for nothing.

    Parameters
    ----------
    model : Model or ScoreCard
        A model of any kind; a score card is shown with its points.
    path : str or path-like
        The file; it appears whole or not at all.
    X : table
        Rows as for ``model.predict``, to measure the model on and to choose from.
    y : array of shape (rows,) or (rows, targets), optional
        What is right. Without it nothing is said about how good the model is.
    title : str, optional
        The headline; by default what is predicted and how often it is right.
    names : mapping of str to str, optional
        What columns are called on the page.
    classes : mapping of label to str, optional
        What classes are called on the page.
    target : str
        What is predicted: "disease".
    noun : str, default="row"
        What a row is: "patient".
    source : str
        Where the rows come from: the name of a file.
    purpose : str
        What the model is for, for its card.
    fixed : name or names of columns
        Inputs that stay as they are where the page looks for changes.
    seen : int, optional
        How many of the rows the model was trained on; None if that is not known.
    origin : Origin, optional
        How the model was trained, for its card.
    rules : RuleSet, optional
        Its rules, where they have been found before.
    groups : str, or pair of a name and values, optional
        A column of X by whose groups selection, sensitivity, calibration and errors are
        compared; or its name and the group of each row.
    seconds : float, default=5.0
        How long to look for short rules of a crisp network.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from newron.model import Classes, Column, Layer, Model, Schema
    >>> fever = Layer("heaviside", "sum", "identity", 1, target=[0], source=[0],
    ...               w=[[1.0]], b=[[38.0]], alpha=[2.0], centre=[1.0])
    >>> model = Model(Schema((Column("temperature", 35.0, 42.0),)), [fever],
    ...               Classes(("well", "ill")))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.html")
    ...     write(model, path, [[36.5], [38.4], [39.0]], ["well", "ill", "ill"])
    ...     path.read_text("utf-8")[:15]
    '<!doctype html>'
    """
    labels = Labels(title, target, noun, source, purpose, names, classes)
    facts = gather(
        model, X, y, labels=labels, origin=origin, seen=seen, rules=rules, fixed=fixed,
        groups=groups, seconds=seconds,
    )  # fmt: skip
    write_whole(render(facts).encode("utf-8"), path)
