"""The verbs that read a network, shared by models and fitted estimators."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal, overload

from numpy.typing import ArrayLike

from newron.errors import InputError
from newron.model.showable import Showable

if TYPE_CHECKING:
    import numpy as np

    from newron.explanations.explanation import Explanation
    from newron.explanations.importance import Importance, Kind
    from newron.model.model import Model
    from newron.model.output import Label
    from newron.rules.coverage import Coverage
    from newron.rules.ruleset import RuleSet
    from newron.rules.scorecard import ScoreCard
    from newron.shapes.effects import Effects
    from newron.shapes.fuzzy import FuzzyRules
    from newron.shapes.shape import Shapes


class Readable(Showable):
    """Has a network that can be read: rules, shapes, paths of rows, and all that shows it."""

    __slots__ = ()

    def _get_coverage(self) -> Coverage | None:
        """Return the training rows by the cells of a crisp network, where they are known."""
        return None

    # ---- as text ----

    def rules(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        form: str = "shortest",
        seconds: float = 5.0,
    ) -> RuleSet:
        """Return the rules of a crisp network: the shortest that were found.

        Parameters
        ----------
        X, y : table and array, optional
            Rows to measure support and precision on; by default the training rows, where
            they are known.
        form : {"shortest", "rules", "points"}
            If/then rules, points that are added up, or whichever is shorter.
        seconds : float
            How long to look for shorter rules: so much work at a fixed rate, so that the
            result does not depend on the clock.

        Returns
        -------
        RuleSet
            ``print(rules)`` shows them, ``rules.proof`` whether they equal the network.
        """
        from newron.rules.extraction import extract

        rules = extract(self._get_model(), form=form, seconds=seconds)
        return rules.with_coverage(self._get_coverage()) if X is None else rules.cover(X, y)

    def label(self, name: str) -> Model:
        """Return the part of a network that decides one of several labels.

        Parameters
        ----------
        name : str
            Of the label.

        Returns
        -------
        Model
            Of two classes, "not" the label and the label, with the same score; what reads two
            classes reads it.

        Examples
        --------
        >>> from newron import NewronClassifier
        >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [[0, 1], [0, 1], [1, 1], [1, 0]]
        >>> model = NewronClassifier(recipe="grow", hidden_layer_sizes=(), random_state=0).fit(X, y)
        >>> print(model.label("y1").rules().to_text(notes=False))
        If x1 ≥ 2, then y1
        Otherwise "not y1"
        """
        from newron.model.edits import take_label

        return take_label(self._get_model(), name)

    def scorecard(
        self,
        max_points: int | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        seconds: float = 10.0,
    ) -> ScoreCard:
        """Return a crisp network of two classes, or of ordered ones, as a score card.

        Parameters
        ----------
        max_points : int, optional
            Round points to whole numbers of at most this size, so that the loss on the
            training rows grows least: another network, with what that costs.
        X, y : table and array, optional
            Rows to measure the cost on; by default the training rows.
        seconds : float
            How long to look for better points.

        Returns
        -------
        ScoreCard
        """
        from newron.rules.coverage import cover_rows
        from newron.rules.rounding import round_card
        from newron.rules.scorecard import read_card

        model, training = self._get_model(), self._get_coverage()
        if max_points is None:
            return read_card(model)
        if training is None:
            raise InputError(
                "max_points: expected a Heaviside network whose training rows are known, got "
                "another; fit an estimator on at most 200,000 distinct rows"
            )
        if X is not None and y is None:
            raise InputError("expected y beside X, got none")
        other = None if X is None or y is None else cover_rows(model, X, y)
        return round_card(model, max_points, training, other, seconds=seconds)

    @overload
    def shapes(self, *, by: Literal["function"] = ...) -> Shapes: ...
    @overload
    def shapes(
        self, *, by: Literal["column"], X: ArrayLike | None = ..., y: ArrayLike | None = ...
    ) -> Effects: ...
    def shapes(
        self,
        *,
        by: Literal["function", "column"] = "function",
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
    ) -> Shapes | Effects:
        """Describe what every function, or every column, does over its observed range.

        Parameters
        ----------
        by : {"function", "column"}
            Every function by itself, neuron by neuron; or one curve for each column and one
            surface for each pair of columns, with what they add to the score.
        X, y : table and array, optional
            Rows and their classes or targets, for bands of the curves of columns: see
            :func:`newron.shapes.measure_bands`.

        Returns
        -------
        Shapes or Effects
        """
        if by == "function":
            from newron.shapes.shape_reader import read_shapes

            return read_shapes(self._get_model())
        if by != "column":
            raise InputError(f"by: expected 'function' or 'column', got {by!r}")
        if X is not None and y is not None:
            from newron.shapes.bands import measure_bands

            return measure_bands(self._get_model(), X, y)
        from newron.shapes.effects import read_effects

        return read_effects(self._get_model())

    def fuzzy(self) -> FuzzyRules:
        """Describe a smooth network as fuzzy rules: direction, position and sharpness.

        Returns
        -------
        FuzzyRules
        """
        from newron.shapes.fuzzy import read_fuzzy_rules

        return read_fuzzy_rules(self._get_model())

    def crisp(self, X: ArrayLike | None = None) -> Model:
        """Return the nearest network whose functions are all 0 or 1: each is cut at one half.

        It is another network: :func:`newron.rules.measure_fidelity` measures how often the
        two agree.

        Parameters
        ----------
        X : table, optional
            Rows on which the weights of the last layer are set anew: a function that is 0.7 on
            average where it holds and 0.4 where it does not adds 0.3 of its weight. That is
            nearer to the network where functions do not reach 0 and 1; for regression it is
            needed.

        Returns
        -------
        Model
            Of Heaviside functions on the columns' own scale; the network itself if it is crisp.
        """
        from newron.rules.crisp import make_crisp

        return make_crisp(self._get_model(), X)

    # ---- of rows ----

    def explain(
        self,
        row: Any,
        *,
        target: Any = None,
        max_changes: int = 3,
        fixed: str | Iterable[str] = (),
        limit: int = 5,
        max_evaluations: int = 500_000,
    ) -> Explanation:
        """Return the path of one row through the network, and what would change its class.

        Parameters
        ----------
        row : dict, Series, sequence, or table of one row
        target : label, or (low, high)
            Where the changes shall lead: a class, by default any other; for regression a
            range, None at an open end, by default no changes are looked for.
        max_changes : int, default=3
            How many inputs may change together; 0 for none.
        fixed : name or names of columns
            Inputs that stay as they are in the changes.
        limit : int, default=5
            How many changes to return, each of other inputs or towards another class.
        max_evaluations : int, default=500_000
            After so many rows the search ends, and is not exhaustive.

        Returns
        -------
        Explanation
        """
        from newron.explanations.explanation import explain

        return explain(
            self._get_model(),
            row,
            target=target,
            max_changes=max_changes,
            fixed=fixed,
            limit=limit,
            max_evaluations=max_evaluations,
        )

    def contributions(self, X: ArrayLike, *, output: Label | None = None) -> Any:
        """Return what each column, and each pair of columns, adds to the score of each row.

        Parameters
        ----------
        X : table of shape (n_rows, n_columns)
        output : label, optional
            Of several classes or targets, the one to return.

        Returns
        -------
        table of shape (n_rows, n_terms + 1), or dict of them
            A frame of the kind that X is, or an array in the order of
            :func:`newron.explanations.name_contributions`; the last column is the intercept, and
            a row adds up to its score. For several classes or targets a dict by label, unless
            ``output`` names one. Functions that read several columns through hidden neurons are
            named after all of them: "age × sex".
        """
        from newron.explanations.contributions import measure_contributions

        return measure_contributions(self._get_model(), X, output=output)

    def importance(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        kind: Kind = "permutation",
        n_repeats: int = 5,
        random_state: int | np.random.Generator | None = 0,
    ) -> Importance:
        """Measure how much each input matters on some rows.

        Parameters
        ----------
        X : table
        y : array of shape (rows,) or (rows, targets), optional
            The true targets; without them the network's own predictions: then permutation
            says how many decisions change.
        kind : {"permutation", "drop"}
            The accuracy (or R²) that is lost when an input is shuffled among the rows; or the
            fraction of rows whose class changes (for regression the mean difference) when all
            functions that read an input are held constant, and the same for every function: a
            crisp one at its more frequent value, any other at its mean over the rows.
        n_repeats : int, default=5
            How often to shuffle; the same shuffles for all inputs.
        random_state : int, Generator or None, default=0

        Returns
        -------
        Importance
        """
        from newron.explanations.importance import measure_importance

        return measure_importance(
            self._get_model(), X, y, kind=kind, n_repeats=n_repeats, random_state=random_state
        )
