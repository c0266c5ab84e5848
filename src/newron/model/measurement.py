"""How good a model was on rows that it was not trained on, as its file keeps it."""

from __future__ import annotations

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from newron.errors import ModelError, ModelFileError
from newron.formatting import format_count, format_percent, format_rounded
from newron.model.parts import check_keys, read_number, read_text, read_whole
from newron.model.result import Estimate, Result

MODEL = "model"
PROTOCOLS = ("cross-validation", "test rows", "new rows")
# By name: the least value, the greatest, and whether more is better.
MEASURES = {
    "accuracy": (0.0, 1.0, True),
    "mean absolute error": (0.0, math.inf, False),
    "concordance": (0.0, 1.0, True),
    "subset accuracy": (0.0, 1.0, True),
    "balanced accuracy": (0.0, 1.0, True),
    "auc": (0.0, 1.0, True),
    "log loss": (0.0, math.inf, False),
    "r2": (-math.inf, 1.0, True),
    "d2": (-math.inf, 1.0, True),
    "root mean squared error": (0.0, math.inf, False),
    "label accuracy": (0.0, 1.0, True),
    "integrated brier score": (0.0, math.inf, False),
}
HEADLINES = ("accuracy", "mean absolute error", "concordance", "subset accuracy")
_NO_PERCENT = ("r2", "d2", "auc", "concordance")
_MAX_PREDICTORS, _MAX_TEXT, _MAX_ROWS = 20, 200, 2**53
_KEYS = {  # of the file, by attribute
    "protocol": "protocol",
    "n_folds": "folds",
    "n_rows": "rows",
    "n_trained": "trained on",
    "seed": "seed",
    "source": "data",
    "fingerprint": "fingerprint",
    "date": "date",
}


@dataclass(frozen=True)
class Measurement(Result):
    """How good a model and its baselines were on rows that they were not trained on.

    Parameters
    ----------
    protocol : {"cross-validation", "test rows", "new rows"}
        Folds of the table; a part of the table that was kept apart; another table.
    n_rows : int
        The rows that were predicted.
    scores : mapping of str to mapping of str to Estimate
        By predictor, "model" first, and by measure; the first measure is "accuracy", of
        regression "mean absolute error", of survival "concordance", of labels "subset accuracy".
    n_folds : int
        Of a cross-validation, otherwise 0.
    n_trained : int, optional
        The rows that the model was trained on, where that is known.
    seed : int, optional
        Of the folds or of the part.
    source : str
        Where the rows come from: the name of a file.
    fingerprint : str
        The SHA-256 of the table: names of columns, rows, targets.
    date : str
        The day, such as "2026-11-18".

    Examples
    --------
    >>> scores = {"model": {"accuracy": Estimate(0.833, 0.784, 0.873)},
    ...           "logistic regression": {"accuracy": Estimate(0.841, 0.792, 0.88)}}
    >>> found = Measurement("cross-validation", 270, scores, n_folds=5, source="heart.csv")
    >>> found.describe()
    'Accuracy on new rows 83.3 %, 95 % interval 78.4 to 87.3'
    >>> found.describe_protocol()
    'by 5-fold cross-validation of 270 rows, heart.csv'
    >>> found.better
    ('logistic regression',)
    """

    protocol: str
    n_rows: int
    scores: Mapping[str, Mapping[str, Estimate]] = field(hash=False)
    n_folds: int = 0
    n_trained: int | None = None
    seed: int | None = None
    source: str = ""
    fingerprint: str = ""
    date: str = ""

    def __post_init__(self) -> None:
        """Check every part: a file may hold anything."""
        if self.protocol not in PROTOCOLS:
            raise ModelError(f"protocol: expected one of {PROTOCOLS}, got {self.protocol!r}")
        folds = range(2, self.n_rows + 1) if self.protocol == PROTOCOLS[0] else range(1)
        for name, number, allowed in (
            ("rows", self.n_rows, range(1, _MAX_ROWS)),
            ("folds", self.n_folds, folds),
            ("trained on", self.n_trained, range(1, _MAX_ROWS)),
            ("seed", self.seed, range(2**64)),
        ):
            if number is not None and number not in allowed:
                raise ModelError(f"measured: {name}: {number} is not possible")
        self._check_texts()
        self._check_scores()

    def _check_texts(self) -> None:
        for text in (self.source, *self.scores):
            if len(text) > _MAX_TEXT:
                raise ModelError(f"measured: expected names of at most {_MAX_TEXT} characters")
        if not re.fullmatch("([0-9a-f]{64})?", self.fingerprint):
            raise ModelError("measured: fingerprint: expected 64 hexadecimal digits")
        try:
            dt.date.fromisoformat(self.date or "2000-01-01")
        except ValueError:
            raise ModelError("measured: date: expected a day such as 2026-11-18") from None

    def _check_scores(self) -> None:
        if next(iter(self.scores), None) != MODEL or len(self.scores) > _MAX_PREDICTORS:
            raise ModelError(
                f"measured: expected scores of at most {_MAX_PREDICTORS} predictors, "
                f"{MODEL!r} first"
            )
        measures = [next(iter(each), None) for each in self.scores.values()]
        if measures[0] not in HEADLINES or len(set(measures)) > 1:
            raise ModelError(f"measured: expected all scores to begin with one of {HEADLINES}")
        for each in self.scores.values():
            for name, estimate in each.items():
                _check_estimate(name, estimate)

    @property
    def headline(self) -> str:
        """The measure that is named first, such as accuracy."""
        return next(iter(self.scores[MODEL]))

    @property
    def value(self) -> Estimate:
        """The headline of the model."""
        return self.scores[MODEL][self.headline]

    @property
    def better(self) -> tuple[str, ...]:
        """The baselines that are better than the model by the headline, the best first."""
        sign = 1.0 if MEASURES[self.headline][2] else -1.0
        gains = {
            name: sign * (each[self.headline].value - self.value.value)
            for name, each in self.scores.items()
        }
        return tuple(sorted((name for name in gains if gains[name] > 0.0), key=lambda x: -gains[x]))

    def describe(self) -> str:
        """Return the headline with its interval in words.

        Returns
        -------
        str
        """
        name = f"{self.headline[0].upper()}{self.headline[1:]}"
        return f"{name} on new rows {describe_score(self.headline, self.value)}"

    def describe_protocol(self) -> str:
        """Return in words how it was measured.

        Returns
        -------
        str
        """
        rows = format_count(self.n_rows, "row")
        how = {
            "cross-validation": f"by {self.n_folds}-fold cross-validation of {rows}",
            "test rows": f"on {rows} apart",
            "new rows": f"on {rows} that were given as new",
        }[self.protocol]
        return ", ".join([how, *filter(None, (self.source, self.date))])

    def to_dict(self) -> dict[str, Any]:
        """Return the measurement as the model's file has it.

        Returns
        -------
        dict
            What is not known is left out.
        """
        parts = {key: getattr(self, name) for name, key in _KEYS.items()}
        known = {key: value for key, value in parts.items() if value not in (None, "")}
        if not self.n_folds:
            del known["folds"]
        scores = {
            name: {measure: estimate.to_dict() for measure, estimate in each.items()}
            for name, each in self.scores.items()
        }
        return {**known, "scores": scores}


def describe_score(measure: str, estimate: Estimate) -> str:
    """Return a score with its interval in words.

    >>> describe_score("accuracy", Estimate(0.833, 0.784, 0.873))
    '83.3 %, 95 % interval 78.4 to 87.3'
    """
    limits = estimate.value, estimate.low, estimate.high
    if MEASURES[measure][1] == 1.0 and measure not in _NO_PERCENT:
        value, low, high = (format_percent(x, 1, limits=False).removesuffix(" %") for x in limits)
        return f"{value} %, 95 % interval {low} to {high}"
    value, low, high = map(format_rounded, limits)
    return f"{value}, 95 % interval {low} to {high}"


def _check_estimate(name: str, estimate: Estimate) -> None:
    if name not in MEASURES:
        raise ModelError(f"measured: expected measures of {', '.join(MEASURES)}, got {name[:60]!r}")
    low, high, _ = MEASURES[name]
    limits = estimate.value, estimate.low, estimate.high
    if not all(map(math.isfinite, limits)) or not low <= estimate.value <= high:
        raise ModelError(f"measured: {name}: {estimate.value} is not possible")
    if estimate.low > estimate.high:
        raise ModelError(f"measured: {name}: expected an interval, got its ends the other way")


def read_measurement(item: Any) -> Measurement:
    """Make a measurement of a part of a file, checking all of it."""
    where = "measured"
    check_keys(item, {*_KEYS.values(), "scores"}, {"protocol", "rows", "scores"}, where)
    texts = {"protocol", "source", "fingerprint", "date"}
    parts: dict[str, Any] = {
        name: (read_text if name in texts else read_whole)(item[key], f"{where}: {key}")
        for name, key in _KEYS.items()
        if key in item
    }
    if not isinstance(item["scores"], dict) or len(item["scores"]) > _MAX_PREDICTORS:
        raise ModelFileError(f"{where}: expected scores of at most {_MAX_PREDICTORS} predictors")
    scores = {
        read_text(name, where): _read_scores(each, f"{where}: {name[:60]}")
        for name, each in item["scores"].items()
    }
    return Measurement(scores=scores, **parts)


def _read_scores(item: Any, where: str) -> dict[str, Estimate]:
    check_keys(item, set(MEASURES), set(), where)
    ends = ("value", "low", "high")
    for estimate in item.values():
        check_keys(estimate, set(ends), set(ends), where)
    return {
        name: Estimate(*(read_number(estimate[end], where) for end in ends))
        for name, estimate in item.items()
    }
