"""NewronSearchCV."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.metrics import check_scoring, get_scorer_names
from sklearn.model_selection import check_cv
from sklearn.utils import check_random_state, get_tags, indexable
from sklearn.utils._param_validation import HasMethods, Interval, StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, _num_samples, check_is_fitted

from newron.errors import InputError, InterruptedWarning, NewronWarning
from newron.model.arithmetic import Floats
from newron.search.choices import list_choices
from newron.search.exploration import (
    Call,
    Exploration,
    Listener,
    Trial,
    derive_seed,
    explore,
)
from newron.search.fingerprint import hash_arrays, hash_settings, hash_table, to_plain
from newron.search.fold_trial import Fold, evaluate_trial, make_fold, takes_weight
from newron.search.journal import Journal
from newron.search.progress import ProgressTree
from newron.search.results import TIE_RULES, choose_node, make_table
from newron.search.size import count_outputs, count_settings
from newron.search.structure import Choice, GrowthRule, Node, Tree

_COUNT = Interval(Integral, 1, None, closed="left")
_CHOICES = ("processing", "n_factors", "functions_per_input", "weight_decay")
# What a result does not depend on, or what the search sets itself.
_NO_MATTER = ("hidden_layer_sizes", "recipe", "random_state", "n_jobs", "verbose", "callbacks")


def _best_has(name: str) -> Callable[[Any], bool]:
    """Return whether what predicts has a method, as available_if wants it."""

    def check(self: Any) -> bool:
        getattr(getattr(self, "best_estimator_", self.estimator), name)
        return True

    return check


class NewronSearchCV(MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The paper's search for a structure, evaluated by cross-validation.

    It starts with the output layer alone. A step doubles every hidden layer, or adds one
    of one neuron; breadth first. A structure hands its patience down to those made of
    it, less 1 where they gain less than ``min_gain``; without patience none are made of
    it. Of structures that score alike the smallest is taken. See docs/search.md.

    Parameters
    ----------
    estimator : NewronClassifier or NewronRegressor
        Whose other settings are kept. The recipe "default", which chooses a structure
        of its own, becomes "gradient".
    processing, n_factors, functions_per_input, weight_decay : list, optional
        Values to choose from. Every combination gets a tree of its own.
    scoring : str or callable, optional
        What is measured, as in scikit-learn; by default accuracy, or R².
    cv : int, splitter or iterable, default 5
        The folds. A number means shuffled ones, of every class its proportion.
    refit : bool, default True
        Whether to train the best structure on all rows.
    patience : int, default 5
        Of the first structure.
    min_gain : float, default 0.01
        The least gain over the parent that costs no patience; for errors ("neg_...") a
        fraction of the parent's.
    widening : {"all", "each"}, default "all"
        Whether a step doubles all hidden layers, or one of them.
    max_neurons, max_layers : int, optional, default 64 and None
        Hidden neurons and layers of a structure at most.
    max_structures : int, optional, default 40
        Structures at most, for each combination of choices. On noisy tables gains by
        chance would keep the search going for hundreds.
    max_time : float, optional
        Seconds after which no network is begun; the best so far is taken. The first
        structure is evaluated in any case, and what is begun is ended.
    tie_rule : {"one_se", "best"}, default "one_se"
        The smallest network whose mean score is within one standard error of the
        highest, or that of the highest.
    n_jobs : int, optional
        How many networks to train at a time; None is one, -1 one for each core. They
        are threads, which share the data, unless ``joblib.parallel_config`` says
        otherwise. The result is the same.
    random_state : int, RandomState or None
        Of folds and networks; by default that of the estimator.
    verbose : int, default 0
        1 shows the tree, the best score and the time left.
    journal : path, optional
        A file that keeps what was found. A search that was killed goes on from it.

    Attributes
    ----------
    best_estimator_ : estimator
        Trained on all rows, with ``refit``.
    best_params_, best_score_, best_index_
        Of the structure that was taken; the score is its mean over the folds.
    cv_results_ : dict of arrays
        One row for each structure, as in GridSearchCV, and also
        ``n_functions`` before training, ``parent`` and ``patience``.
    tree_ : Tree
        What was explored; ``print(search.tree_)`` draws it.
    ending_ : {"finished", "time", "interrupt"}
        Why the search ended.
    n_splits_ : int
    scorer_ : callable
    refit_time_ : float

    Examples
    --------
    >>> from newron import NewronClassifier
    >>> from newron.search import NewronSearchCV
    >>> X = [[x, y] for x in range(8) for y in range(8)]
    >>> same = [(x < 4) == (y < 4) for x, y in X]
    >>> network = NewronClassifier(n_init=5, max_iter=100)
    >>> search = NewronSearchCV(network, cv=3, max_structures=6, random_state=0)
    >>> search.fit(X, same).best_params_
    {'hidden_layer_sizes': (2,), 'recipe': 'gradient'}
    >>> search.best_score_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit", "predict", "get_params", "set_params"])],
        **{name: ["array-like", None] for name in _CHOICES},
        "scoring": [StrOptions(set(get_scorer_names())), callable, None],
        "cv": ["cv_object"],
        "refit": ["boolean"],
        "patience": [_COUNT],
        "min_gain": [Interval(Real, 0, None, closed="left")],
        "widening": [StrOptions({"all", "each"})],
        "max_neurons": [_COUNT, None],
        "max_layers": [Interval(Integral, 0, None, closed="left"), None],
        "max_structures": [_COUNT, None],
        "max_time": [Interval(Real, 0, None, closed="left"), None],
        "tie_rule": [StrOptions(set(TIE_RULES))],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "journal": [str, os.PathLike, None],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        processing: Sequence[str] | None = None,
        n_factors: Sequence[int] | None = None,
        functions_per_input: Sequence[int] | None = None,
        weight_decay: Sequence[float] | None = None,
        scoring: str | Callable[..., float] | None = None,
        cv: Any = 5,
        refit: bool = True,
        patience: int = 5,
        min_gain: float = 0.01,
        widening: str = "all",
        max_neurons: int | None = 64,
        max_layers: int | None = None,
        max_structures: int | None = 40,
        max_time: float | None = None,
        tie_rule: str = "one_se",
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        journal: str | os.PathLike[str] | None = None,
    ) -> None:
        self.estimator = estimator
        self.processing = processing
        self.n_factors = n_factors
        self.functions_per_input = functions_per_input
        self.weight_decay = weight_decay
        self.scoring = scoring
        self.cv = cv
        self.refit = refit
        self.patience = patience
        self.min_gain = min_gain
        self.widening = widening
        self.max_neurons = max_neurons
        self.max_layers = max_layers
        self.max_structures = max_structures
        self.max_time = max_time
        self.tie_rule = tie_rule
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.journal = journal

    # ---- fitting ----

    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: ArrayLike | None = None,
        groups: ArrayLike | None = None,
    ) -> Self:
        """Search on a table.

        Parameters
        ----------
        X : data frame or array-like of shape (n_rows, n_columns)
        y : array-like of shape (n_rows,), or (n_rows, n_targets) for regression
        sample_weight : array-like of shape (n_rows,), optional
            Counts in fitting, and in scoring.
        groups : array-like of shape (n_rows,), optional
            For a ``cv`` that splits by groups.

        Returns
        -------
        NewronSearchCV
            The search itself, fitted.
        """
        self._validate_params()
        self._fixed = self._fix_recipe()
        if y is None:
            raise InputError("the search requires y to be passed, but the target y is None")
        X, y, groups = indexable(X, y, groups)
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        weight = self._read_weight(sample_weight, X)
        seed = self._make_seed()
        parts = self._split(X, y, groups, seed)
        folds = [make_fold(a, b, _num_samples(X), weight) for a, b in parts]
        exploration = self._explore(X, y, folds, seed)
        self._take_best(exploration, X, y)
        if hasattr(self, "best_estimator_"):  # of an earlier fit
            del self.best_estimator_
        if self.refit:
            self._refit(X, y, weight, seed)
        return self

    def _fix_recipe(self) -> dict[str, Any]:
        """Return what the search sets for all structures."""
        settings = self.estimator.get_params(deep=False)
        if not {"hidden_layer_sizes", "recipe"} <= set(settings):
            raise InputError(
                "estimator: expected a NewronClassifier or NewronRegressor, got "
                f"{type(self.estimator).__name__}"
            )
        if settings["recipe"] == "grow":
            raise InputError(
                'recipe "grow" builds a structure of its own, there is nothing to search; '
                'expected "gradient" or "paper"'
            )
        return {"recipe": "gradient"} if settings["recipe"] == "default" else {}

    def _read_weight(self, sample_weight: ArrayLike | None, X: Any) -> Floats | None:
        if sample_weight is None:
            return None
        if self.scoring is not None and not takes_weight(self.scorer_):
            raise InputError(
                f"sample_weight: expected a score that can be weighed, got {self.scoring!r}"
            )
        rows = np.empty((_num_samples(X), 0))
        return np.asarray(
            _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        )

    def _make_seed(self) -> int:
        state = self.random_state
        if state is None:
            state = self.estimator.get_params(deep=False).get("random_state")
        if isinstance(state, Integral):
            return int(state)
        if self.journal is not None:
            raise InputError(
                f"random_state: expected a whole number beside a journal, got {state!r}: a search "
                "that goes on needs the same folds and seeds"
            )
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def _split(self, X: Any, y: Any, groups: Any, seed: int) -> list[Any]:
        n_folds = 5 if self.cv is None else self.cv
        splitter = check_cv(n_folds, y, classifier=is_classifier(self.estimator))
        if isinstance(n_folds, Integral):
            # Of the same kind, but not in the order of the rows.
            splitter = type(splitter)(int(n_folds), shuffle=True, random_state=seed % 2**32)
        return list(splitter.split(X, y, groups))

    def _explore(self, X: Any, y: Any, folds: list[Fold], seed: int) -> Exploration:
        def prepare(trial: Trial, n_threads: int) -> Call:
            network = self._make_network(trial.candidate.settings, seed, trial.fold)
            network.set_params(n_jobs=n_threads, verbose=0, callbacks=None)
            return evaluate_trial, (network, X, y, self.scorer_, *folds[trial.fold])

        listeners: list[Listener] = [ProgressTree(self.max_time)] if self.verbose else []
        journal = self._open_journal(X, y, folds, seed)
        with warnings.catch_warnings():
            # Validation rows may have categories that the others lack: that is no news.
            warnings.simplefilter("ignore", NewronWarning)
            return explore(
                Tree.start(self._make_rule(), self._list_choices()),
                len(folds),
                prepare,
                known=None if journal is None else journal.outcomes,
                n_jobs=self.n_jobs,
                max_time=self.max_time,
                listeners=listeners if journal is None else [journal, *listeners],
            )

    def _list_choices(self) -> list[Choice]:
        requested = {name: getattr(self, name) for name in _CHOICES}
        return list_choices(requested, self.estimator.get_params(deep=False)["processing"])

    def _make_rule(self) -> GrowthRule:
        return GrowthRule(
            patience=self.patience,
            min_gain=self.min_gain,
            relative=getattr(self.scorer_, "_sign", 1) < 0,
            widening=self.widening,
            max_neurons=self.max_neurons,
            max_layers=self.max_layers,
            max_structures=self.max_structures,
        )

    def _make_network(self, settings: dict[str, Any], seed: int, what_for: int | str) -> Any:
        own = derive_seed(seed, to_plain(settings), what_for)
        return clone(self.estimator).set_params(**settings, **self._fixed, random_state=own)

    def _open_journal(self, X: Any, y: Any, folds: list[Fold], seed: int) -> Journal | None:
        if self.journal is None:
            return None
        settings = self.estimator.get_params(deep=False)
        categorical = settings.get("categorical_features", "from_dtype")
        listed = {name: value for name, value in settings.items() if name not in _NO_MATTER}
        listed |= {"kind": type(self.estimator).__name__, "scoring": self.scoring, "seed": seed}
        listed["recipe"] = self._fixed.get("recipe", settings["recipe"])
        prints = {
            "data": hash_arrays(hash_table(X, categorical), y),
            "folds": hash_arrays(*[array for fold in folds for array in fold]),
            "settings": hash_settings(listed),
        }
        return Journal(self.journal, prints)

    def _take_best(self, exploration: Exploration, X: Any, y: Any) -> None:
        sizes = self._measure(exploration.tree.nodes, X, y)
        table = make_table(exploration, self._fixed, sizes)
        scores = exploration.score_matrix()
        best = choose_node(scores, sizes, self.tie_rule)
        self.cv_results_: dict[str, Any] = table
        self.tree_: Tree = exploration.tree
        self.ending_, self.best_index_ = exploration.ending, best
        self.best_params_: dict[str, Any] = table["params"][best]
        self.best_score_ = float(table["mean_test_score"][best])
        self.n_splits_ = exploration.n_folds
        self.multimetric_ = False
        self._warn_ending(scores)

    def _measure(self, nodes: Sequence[Node], X: Any, y: Any) -> list[int]:
        settings = self.estimator.get_params(deep=False)
        n_outputs = count_outputs(y, classes=is_classifier(self.estimator))
        listed = [settings | node.candidate.settings for node in nodes]
        return [count_settings(each, np.shape(X)[1], n_outputs) for each in listed]

    def _warn_ending(self, scores: Floats) -> None:
        failed = int(np.isnan(scores).any(axis=1).sum())
        if failed:
            text = f"{failed} of {len(scores)} structures could not be trained or scored on every "
            warnings.warn(f"{text}fold and are left out", NewronWarning, stacklevel=4)
        if self.ending_ == "interrupt":
            text = "the search was interrupted: the best structure so far is taken"
            warnings.warn(text, InterruptedWarning, stacklevel=4)

    def _refit(self, X: Any, y: Any, weight: Floats | None, seed: int) -> None:
        chosen = self.tree_.nodes[self.best_index_].candidate.settings
        best = self._make_network(chosen, seed, "refit")
        own, start = best.n_jobs, time.perf_counter()
        best.set_params(n_jobs=self.n_jobs if own is None else own).fit(X, y, sample_weight=weight)
        self.refit_time_ = time.perf_counter() - start
        self.best_estimator_ = best.set_params(n_jobs=own)

    # ---- predicting ----

    def _get_best(self) -> Any:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "best_estimator_"):
            raise AttributeError("the search had refit=False: there is no network")
        return self.best_estimator_

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Score the best network, by ``scoring``.

        Parameters
        ----------
        X, y : table and array
        sample_weight : array-like of shape (n_rows,), optional

        Returns
        -------
        float
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(self.scorer_(self._get_best(), X, y, **weights))

    @available_if(_best_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict by the best network."""
        return np.asarray(self._get_best().predict(X))

    @available_if(_best_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Return the probability of each class, by the best network."""
        return np.asarray(self._get_best().predict_proba(X))

    @available_if(_best_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return the scores of the best network."""
        return np.asarray(self._get_best().decision_function(X))

    @property
    def classes_(self) -> NDArray[Any]:
        """The classes."""
        return np.asarray(self._get_best().classes_)

    @property
    def n_features_in_(self) -> int:
        """How many columns there are."""
        return int(self._ask("n_features_in_"))

    @property
    def feature_names_in_(self) -> NDArray[Any]:
        """The names of the columns, where they are text."""
        return np.asarray(self._ask("feature_names_in_"))

    def _ask(self, name: str) -> Any:
        if not hasattr(self, "best_estimator_"):
            raise AttributeError(f"{type(self).__name__} has no {name} before it is fitted")
        return getattr(self.best_estimator_, name)

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        kept = ("estimator_type", "classifier_tags", "regressor_tags", "target_tags", "input_tags")
        return replace(tags, **{name: deepcopy(getattr(inner, name)) for name in kept})
