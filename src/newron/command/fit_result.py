"""What ``newron fit`` found: all that is printed, written and reported."""

from __future__ import annotations

import platform
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from newron._version import __version__
from newron.command.fit_options import FitOptions
from newron.evaluation import Evaluation, Predictions, evaluate
from newron.evaluation.splits import SplitPlan
from newron.model import Classes, Measurement, Model, Targets
from newron.model.arithmetic import Floats
from newron.model.conformal import Conformal, calibrate_classes, calibrate_targets
from newron.report import Origin
from newron.rules import RuleSet
from newron.tables import LabelledTable, Target
from newron.tables.fingerprint import hash_table
from newron.training.path import ModelPath

NETWORK = "network"
_MAX_REPORTED = 20_000  # rows of a report


@dataclass(frozen=True)
class FitResult:
    """What a fit found: all that is printed and reported."""

    data: Path
    table: LabelledTable
    options: FitOptions
    plan: SplitPlan
    predictions: Predictions | None  # of the rows that were evaluated on
    model: Model
    rules: RuleSet | None  # of a crisp network
    path: ModelPath | None  # to shorter and longer networks
    seconds: float
    offset: Floats | None = None  # of the rows of the table

    @cached_property
    def evaluation(self) -> Evaluation | None:
        """How good network and baselines are on rows that they were not trained on."""
        return None if self.predictions is None else evaluate(self.predictions)

    @cached_property
    def measurement(self) -> Measurement | None:
        """What the model's file keeps of the evaluation."""
        if self.evaluation is None or self.evaluation.n_rows < 2:
            return None
        y, X = self.table.y, self.table.X
        known = replace(
            self.evaluation,
            seed=self.options.seed,
            fingerprint=hash_table(X.names, X.rows, y.values),
        )
        return known.to_measurement(source=self.data.name, n_trained=self.n_trained)

    @cached_property
    def conformal(self) -> Conformal | None:
        """What intervals and sets are made of: the network's errors on rows it did not see."""
        if self.predictions is None or len(self.predictions.truth) < 2:
            return None
        protocol = "cross-validation" if self.plan.n_folds else "test rows"
        truth, output = self.predictions.truth, self.model.output
        if isinstance(output, Targets):
            predicted = self.predictions.predicted[NETWORK].reshape(len(truth), -1)
            values = truth.reshape(len(truth), -1)
            return calibrate_targets(output, values, predicted, protocol=protocol)
        labels = self.predictions.labels or ()
        places = [labels.index(label) for label in output.labels]
        known = np.isin(truth, places)  # test rows may have other classes
        probabilities = self.predictions.probabilities[NETWORK][known][:, places]
        order = np.zeros(len(labels), np.intp)
        order[places] = np.arange(len(places))
        numbers, own = order[truth[known]], None
        if self.plan.n_folds:
            index = self.predictions.index[known]
            own = numbers, self.model.predict_proba(self.table.X[index])
        return calibrate_classes(numbers, probabilities, own=own, protocol=protocol)

    @property
    def unused(self) -> list[str]:
        """The columns that no function reads."""
        used = {int(source) for layer in self.model.layers for source in layer.source}
        return [name for i, name in enumerate(self.model.schema.names) if i not in used]

    @property
    def n_trained(self) -> int:
        """How many rows the network was trained on."""
        return self.table.n_rows - (0 if self._test_rows is None else len(self._test_rows))

    @property
    def _test_rows(self) -> NDArray[np.intp] | None:
        if self.predictions is None or self.plan.n_folds:
            return None
        return self.predictions.index

    def count_agreement(self) -> int:
        """Return on how many rows of the table rules and network agree."""
        X = self.table.X
        return (
            0 if self.rules is None else int((self.rules.predict(X) == self.model.predict(X)).sum())
        )

    def write_report(self, path: Path, command: str) -> None:
        """Write the report: of the test rows, or of all rows where there are none."""
        from newron.command.advice import list_fit_notes  # which reads results

        index = keep_known(self.table.y, self.model, self._test_rows)[:_MAX_REPORTED]
        options = asdict(self.options)
        self.model.report(
            path,
            self.table.X[index],
            np.asarray(self.table.y[index]),
            offset=None if self.offset is None else self.offset[index],
            target=self.table.y.name,
            source=self.data.name,
            seen=len(index) if self._test_rows is None else 0,
            origin=Origin(
                recipe=options.pop("recipe"),
                seed=str(options.pop("seed")),
                settings={name: value for name, value in options.items() if value is not None},
                versions={"newron": __version__, "Python": platform.python_version()},
                n_rows=self.n_trained,
                command=command,
                notes=tuple(list_fit_notes(self)),
            ),
            rules=self.rules,
        )


def keep_known(y: Target, model: Model, index: NDArray[np.intp] | None = None) -> NDArray[np.intp]:
    """Return the rows whose class a model knows: test rows may have others."""
    chosen = np.arange(len(y)) if index is None else index
    if y.labels is None or not isinstance(model.output, Classes):
        return chosen
    codes = [y.labels.index(label) for label in model.output.labels]
    return np.asarray(chosen[np.isin(y.values[chosen], codes)])
