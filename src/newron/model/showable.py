"""The verbs that show a network to others, as a picture, a page or a program."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

from numpy.typing import ArrayLike

if TYPE_CHECKING:
    from newron.exports import Export
    from newron.figures.figure import Figure, Layout, Theme
    from newron.model.model import Model
    from newron.report import Origin
    from newron.rules.ruleset import RuleSet
    from newron.rules.scorecard import ScoreCard


class Showable:
    """Has a network that can be drawn, reported and exported."""

    __slots__ = ()

    @abstractmethod
    def _get_model(self) -> Model:
        """Return the network."""

    @abstractmethod
    def scorecard(self, max_points: int | None = None) -> ScoreCard:
        """Return the network as a score card."""

    def _get_origin(self) -> Origin | None:
        """Return how the network was trained, where that is known."""
        return None

    def _count_seen(self, X: ArrayLike, y: ArrayLike | None) -> int | None:
        """Count the rows that the network was trained on, where that is known."""
        del X, y
        return None

    def plot(
        self,
        X: ArrayLike | None = None,
        *,
        row: Any = None,
        max_inputs: int | None = 20,
        layout: Layout = "auto",
        theme: Theme = "auto",
        narrow: bool = False,
        title: str | None = None,
        row_name: str = "this row",
    ) -> Figure:
        """Draw the network so that every function can be read.

        Parameters
        ----------
        X : table, optional
            Rows: how many lie where, and which functions decide.
        row : mapping, sequence or table of one row, optional
            A row to draw through the network: a dot on each function.
        max_inputs : int or None, default=20
            How many inputs are drawn, the most influential ones; None draws all.
        layout : {"auto", "layered", "scorecard", "folded"}
        theme : {"auto", "light", "dark"}
            "auto" follows the reader.
        narrow : bool, default=False
            A picture for phones.
        title : str, optional
        row_name : str
            What the row is called in the picture.

        Returns
        -------
        Figure
            ``figure.svg``, or ``figure.save(path)``; see :func:`newron.figures.draw`.
        """
        from newron.figures.figure import draw

        return draw(
            self._get_model(),
            X,
            row=row,
            max_inputs=max_inputs,
            layout=layout,
            theme=theme,
            narrow=narrow,
            title=title,
            row_name=row_name,
        )

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
            Whether the rules of a crisp network come along, so that the export has which of
            them decides; rules at hand need not be found again. SQL is then made of the rules.
        dialect : str, optional
            For SQL the database: "duckdb" by default, "postgres", "sqlite", "spark", "bigquery",
            "snowflake" or "tsql".
        table : str or sequence of str, optional
            For SQL the table that is read, "data" by default. Dots separate the names of a
            catalog, a schema and a table; a sequence of names is taken as it is.
        keep : sequence of str
            For SQL the columns of the table that the result has, too: such as its key.
        exact : bool
            For SQL whether smooth functions are computed by the model's own operations, so that
            scores have the same bits, or by the database's EXP, which is shorter to read and may
            decide a tie of scores otherwise.

        Returns
        -------
        Export
            ``export.text``, or ``export.save(path)``.
        """
        from newron.exports.export import export

        return export(
            self._get_model(),
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
        """Write one HTML file that shows the model to people: it opens from disk.

        It has what is predicted from what, how good that is on these rows, the rules with
        their proof, the network to play with, each input, and how the model was trained.

        Parameters
        ----------
        path : str or path-like
        X, y : table, array
            Rows to measure on. The page shows whether the model was trained on them; without y
            it says nothing about how good the model is.
        title : str, optional
            The headline.
        names, classes : mapping, optional
            What columns, and classes, are called on the page.
        max_points : int, optional
            Report the score card of whole points of at most this size, see
            :meth:`scorecard`, instead of the network itself.
        target, noun, source, purpose : str
            What is predicted, what a row is, where the rows come from, and what the model
            is for.
        fixed : name or names of columns
            Inputs that stay as they are where the page looks for changes.
        seen : int, optional
            How many of the rows the model was trained on; by default they are counted where
            the training rows are known.
        origin : Origin, optional
            How the model was trained; by default as the estimator knows it.
        groups : str, or pair of a name and values, optional
            A column by whose groups predictions are compared, see
            :func:`newron.evaluation.compare_groups`; or its name and the group of each row.
        offset : array-like of shape (n_rows,), optional
            What is added to the score of each row, such as the logarithm of an exposure.
        rules, seconds
            Rules that are at hand, or how long to look for them.
        """
        from newron._files import write_whole
        from newron.report.facts import gather
        from newron.report.labels import Labels
        from newron.report.page import render

        facts = gather(
            self._get_model() if max_points is None else self.scorecard(max_points),
            X,
            y,
            labels=Labels(title, target, noun, source, purpose, names, classes),
            origin=self._get_origin() if origin is None else origin,
            seen=self._count_seen(X, y) if seen is None else seen,
            rules=rules,
            fixed=fixed,
            groups=groups,
            offset=offset,
            seconds=seconds,
        )
        write_whole(render(facts).encode("utf-8"), path)
