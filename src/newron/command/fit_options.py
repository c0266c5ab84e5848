"""How ``newron fit`` trains: its options, checked in the words of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from newron.command.columns import Offset
from newron.errors import InputError
from newron.estimators import NewronClassifier, NewronRegressor
from newron.evaluation.splits import SplitPlan, choose_plan
from newron.model.processing import processing_names
from newron.objectives import read_objective
from newron.tables import Target
from newron.training.recipe import RECIPES

_CLASS_OBJECTIVES = ("log_loss", "ordinal")


@dataclass(frozen=True)
class FitOptions:
    """How a network is trained; None leaves a choice to newron."""

    processing: str = "heaviside"
    hidden: tuple[int, ...] | str | None = None
    recipe: str = "default"
    size: int | str = "auto"
    terms: int = 60
    points: int = 5
    prune: bool = False
    class_weight: str | None = None
    objective: str | None = None
    offset: Offset | None = None
    seed: int = 0
    jobs: int = -1

    def find_task(self, task: str | None) -> str | None:
        """Return what the target must be for the objective; what the user gave, without one."""
        if self.offset is not None and self.objective in _CLASS_OBJECTIVES:
            raise InputError(f"{self.offset.option}: expected numbers to predict, got classes")
        if self.objective is None:
            return task if self.offset is None else "regression"
        needed = "classes" if self.objective in _CLASS_OBJECTIVES else "regression"
        if task not in (None, needed):
            raise InputError(
                f"--objective {self.objective}: expected --task {needed}, got {task!r}"
            )
        return needed

    def check(self, *, has_target: bool = True) -> None:
        """Raise where a name does not exist, in the words of the command line."""
        if self.offset is not None and not has_target:
            raise InputError(f"{self.offset.option}: expected a --target, got another task")
        for option, value, known in (
            ("--processing", self.processing, (*processing_names(), "smooth")),
            ("--recipe", self.recipe, tuple(RECIPES)),
            ("--class-weight", self.class_weight, (None, "balanced")),
        ):
            if value not in known:
                names = ", ".join(name for name in known if name is not None)
                raise InputError(f"{option}: expected {names}, got {value!r}")
        if self.objective is not None and self.objective not in _CLASS_OBJECTIVES:
            try:
                n_scores = read_objective(self.objective).n_scores
            except InputError as error:
                others = " or ".join(_CLASS_OBJECTIVES)
                raise InputError(f"--{error}; for classes {others}") from None
            if n_scores > 1:
                raise InputError(
                    f"--objective {self.objective}: expected one quantile, got {n_scores}; fit "
                    "one network for each, or several at once in Python"
                )
        chosen = self.recipe == "default" and self.hidden != "auto"
        if self.processing == "smooth" and not chosen:
            raise InputError(
                "--processing smooth: expected the default recipe and not --hidden auto, got "
                "others; name sigmoid or tanh_prod"
            )

    @property
    def may_stream(self) -> bool:
        """Whether large tables can be trained in blocks."""
        kinds = ("heaviside", "smooth", "sigmoid", "tanh_prod")
        whole = self.prune or self.hidden == "auto" or self.recipe != "default"
        whole = whole or self.objective == "ordinal"  # limits are found first
        whole = whole or self.offset is not None
        return self.processing in kinds and not whole

    def list_settings(self, units: Mapping[str, str] | None = None) -> dict[str, Any]:
        """Return the parameters that estimators of all tasks take."""
        settings: dict[str, Any] = {
            "processing": self.processing,
            "recipe": self.recipe,
            "size": self.size,
            "max_terms": self.terms,
            "pruning": self.prune,
            "random_state": self.seed,
            "n_jobs": self.jobs,
        }
        if units:
            settings["domains"] = dict(units)
        if self.hidden is not None:
            settings["hidden_layer_sizes"] = self.hidden
        return settings

    def make_estimator(self, y: Target, units: Mapping[str, str] | None = None) -> Any:
        """Return the estimator for a target, not fitted yet; ``units`` are those of columns."""
        settings = self.list_settings(units)
        if self.objective is not None or y.ordered:
            settings["objective"] = self.objective or "ordinal"
        if y.labels is None:
            return NewronRegressor(**settings)
        return NewronClassifier(class_weight=self.class_weight, **settings)


def parse_hidden(text: str | None) -> tuple[int, ...] | str | None:
    """Parse the option for hidden layers.

    >>> parse_hidden("4,2"), parse_hidden("0"), parse_hidden("auto")
    ((4, 2), (), 'auto')
    """
    if text is None or text == "auto":
        return text
    try:
        widths = tuple(int(word) for word in text.split(","))
    except ValueError:
        widths = (-1,)
    if widths == (0,):
        return ()
    if min(widths) < 1:
        raise InputError(f"--hidden: expected numbers such as 4,2, or auto, or 0, got {text!r}")
    return widths


def parse_size(text: str) -> int | str:
    """Parse the option for the size of the network.

    >>> parse_size("auto"), parse_size("12")
    ('auto', 12)
    """
    if text in ("auto", "best", "whole"):
        return text
    if not text.isdecimal():
        raise InputError(f"--size: expected auto, best, whole or a number of lines, got {text!r}")
    return int(text)


def plan_splits(y: Target, folds: int | None, test: float | None) -> SplitPlan:
    """Decide on which rows to evaluate, in the words of the command line."""
    if folds is not None and test is not None:
        raise InputError("expected --folds or --test, got both")
    try:
        return choose_plan(
            y.values, classification=y.labels is not None, n_folds=folds, test_size=test
        )
    except InputError as error:
        raise InputError(f"{'--test' if folds is None else '--folds'}: {error}") from None
