"""What a fitted estimator can be asked besides predictions: rules, paths, importance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from newron.errors import InputError
from newron.estimators.record import count_seen, list_settings
from newron.model.model import Model
from newron.model.output import Classes
from newron.model.processing import get_processing
from newron.training.training_set import TrainingSet

if TYPE_CHECKING:
    from newron.explanations.explanation import Explanation
    from newron.explanations.importance import Importance
    from newron.exports import Export
    from newron.figures import Figure
    from newron.report import Origin
    from newron.rules.coverage import Coverage
    from newron.rules.ruleset import RuleSet
    from newron.rules.scorecard import ScoreCard
    from newron.shapes.shape import Shapes

__all__ = ["Readable"]

_MAX_COVERED = 200_000  # training rows for which support is kept


class Readable:
    """Methods that read the network of a fitted estimator."""

    model_: Model
    _coverage: Coverage | None

    def rules(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        form: str = "shortest",
        seconds: float = 5.0,
    ) -> RuleSet:
        """Give the rules of a Heaviside network: the shortest that were found.

        Parameters
        ----------
        X, y : optional
            Rows to tell support and precision of; by default the training rows.
        form : {"shortest", "rules", "points"}
            If/then rules, points that are added up, or whichever is shorter.
        seconds : float
            How long to look for shorter rules.

        Returns
        -------
        RuleSet
            ``print(rules)`` tells them, ``rules.proof`` says whether they equal the network.
        """
        from newron.rules import extract

        check_is_fitted(self)
        rules = extract(self.model_, form=form, seconds=seconds)
        if X is not None:
            return rules.cover(X, y)
        return rules.with_coverage(getattr(self, "_coverage", None))

    def scorecard(
        self,
        max_points: int | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        seconds: float = 10.0,
    ) -> ScoreCard:
        """Give a Heaviside network of two classes as a score card.

        Parameters
        ----------
        max_points : int, optional
            Round points to whole numbers of at most this size, so that the loss on the
            training rows grows least: another network, with what that costs.
        X, y : optional
            Rows held out, to measure the cost on; by default the training rows.
        seconds : float
            How long to look for better points.
        """
        from newron.rules.rounding import round_card
        from newron.rules.scorecard import read_card

        check_is_fitted(self)
        if max_points is None:
            return read_card(self.model_)
        training = getattr(self, "_coverage", None)
        if training is None:
            raise InputError(
                "expected a Heaviside network fitted on at most "
                f"{_MAX_COVERED} rows to round points, got another"
            )
        held_out = None if X is None else self._cover(X, y)
        return round_card(self.model_, max_points, training, held_out, seconds=seconds)

    def _cover(self, X: ArrayLike, y: ArrayLike | None) -> Coverage:
        from newron.rules.coverage import cover_rows

        if y is None:
            raise InputError("expected y beside X, got none")
        return cover_rows(self.model_, X, y)

    def explain(self, row: Any, **settings: Any) -> Explanation:
        """Give the path of one row through the network, and what would change its class.

        ``settings`` are those of :func:`newron.explanations.explanation.explain`.
        """
        check_is_fitted(self)
        return self.model_.explain(row, **settings)

    def plot(self, X: ArrayLike | None = None, **settings: Any) -> Figure:
        """Draw the network so that every function can be read.

        Rows X tell how many lie where and which functions decide. ``settings`` are those of
        :func:`newron.figures.draw`, such as ``row`` for one row drawn through the network.
        """
        check_is_fitted(self)
        return self.model_.plot(X, **settings)

    def shapes(self) -> Shapes:
        """Tell what every function of the network does over the observed range."""
        check_is_fitted(self)
        return self.model_.shapes()

    def export(
        self,
        to: str,
        *,
        name: str | None = None,
        rules: bool | RuleSet = False,
        dialect: str | None = None,
        table: str | Sequence[str] | None = None,
        keep: Sequence[str] = (),
        exact: bool = True,
    ) -> Export:
        """Return the network in another language, which predicts the same.

        Parameters
        ----------
        to : {"javascript", "python", "c", "sql", "onnx"}
        name : str, optional
            The name of the model; "model" by default.
        rules : bool or RuleSet
            Whether the rules of a crisp network come along.
        dialect, table, keep, exact
            For SQL: the database, its table, columns of the table that the result has too, and
            whether scores have the same bits; see :func:`newron.exports.export`.

        Returns
        -------
        Export
            ``export.text``, or ``export.save(path)``.
        """
        check_is_fitted(self)
        return self.model_.export(
            to,
            name=name,
            rules=rules,
            dialect=dialect,
            table=table,
            keep=keep,
            exact=exact,
        )

    def report(
        self,
        path: str | PathLike[str],
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        title: str | None = None,
        names: Mapping[str, str] | None = None,
        max_points: int | None = None,
        **settings: Any,
    ) -> None:
        """Write one HTML file that shows the model to people: it opens from disk.

        It tells what is predicted from what, how good that is on these rows, the rules with
        their proof, the network to play with, each input, and how the model was trained.

        Parameters
        ----------
        path : str or path-like
        X, y : table, array
            Rows to measure on. The page says whether the model was trained on them.
        title : str, optional
            The headline.
        names : mapping of str to str, optional
            What columns are called on the page.
        max_points : int, optional
            Report the score card of whole points of at most this size, see
            :meth:`scorecard`, instead of the network itself.
        **settings
            Those of :func:`newron.report.write`, such as ``classes``, ``target``, ``noun``.
        """
        from newron.report import write

        check_is_fitted(self)
        told = {"origin": self._tell_origin(), "seen": self._count_seen(X, y), **settings}
        shown = self.model_ if max_points is None else self.scorecard(max_points)
        write(shown, path, X, y, title=title, names=names, **told)

    def _tell_origin(self) -> Origin:
        from newron.report import Origin

        settings: Any = self
        record = getattr(self, "_record", None) or {}
        return Origin(
            recipe=str(settings.recipe),
            settings=list_settings(self),
            seed="not fixed" if settings.random_state is None else str(settings.random_state),
            versions=record.get("versions", {}),
            n_rows=record.get("rows"),
            fingerprint=record.get("fingerprint", ""),
        )

    def _count_seen(self, X: ArrayLike, y: ArrayLike | None) -> int | None:
        record = getattr(self, "_record", None)
        if record is None or y is None:
            return None
        estimator: Any = self
        return count_seen(record, *estimator._read_again(X, y, None)[:2])

    def importance(self, X: ArrayLike, y: ArrayLike | None = None, **settings: Any) -> Importance:
        """Measure how much each input and each function matters on some rows.

        ``settings`` are those of :func:`newron.explanations.importance.measure_importance`.
        """
        from newron.explanations.importance import measure_importance

        check_is_fitted(self)
        return measure_importance(self.model_, X, y, **settings)


def cover_training(model: Model, data: TrainingSet) -> Coverage | None:
    """Keep how many training rows have which cells, so that rules can show their support."""
    crisp = all(get_processing(layer.processing).crisp for layer in model.layers)
    if not crisp or len(data) > _MAX_COVERED:
        return None
    from newron.rules.axis import make_axes
    from newron.rules.circuit import find_boundaries
    from newron.rules.coverage import Coverage

    axes = make_axes(model.schema, find_boundaries(model))
    classes, n_classes = np.zeros(len(data), np.intp), 1
    if isinstance(model.output, Classes):
        classes, n_classes = data.y[:, 0].astype(np.intp), len(model.output.labels)
    return Coverage.measure(axes, data.X, classes, n_classes, data.count)
