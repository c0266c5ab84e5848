"""From an estimator's parameters to what a fit trains, and what it runs in."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils import check_random_state

from newron.errors import InputError, NewronWarning
from newron.estimators.columns import read_directions, read_periods
from newron.model.arithmetic import Floats
from newron.model.output import Output
from newron.model.schema import Schema
from newron.neurons.processing import Processing
from newron.tables.field import Field
from newron.training.architecture import SMOOTH, Architecture, plan_architecture
from newron.training.callbacks import Callback, ProgressLine
from newron.training.context import FitContext
from newron.training.recipe import Recipe, get_recipe
from newron.training.specification import WHOLE, CoreFit, FitResult, Specification
from newron.training.training_set import TrainingSet

if TYPE_CHECKING:
    from newron.estimators.base import NewronEstimator

_GENTLE = 0.1  # of the rate, in the first pass after a polish


def _plan_networks(
    estimator: NewronEstimator, n_outputs: int, *, one_pass: bool = False
) -> list[Architecture]:
    """Plan the networks to choose from: one, unless the processing is "smooth"."""
    if not estimator._is_smooth:
        return [design_network(estimator, n_outputs)]
    if one_pass:  # a part of the rows cannot decide
        kind = getattr(estimator, "processing_", SMOOTH[0])
        return [design_network(estimator, n_outputs, processing=kind)]
    _check_smooth(
        {
            "warm_start": estimator.warm_start,
            'hidden_layer_sizes "auto"': estimator._is_auto,
            f'recipe "{estimator.recipe}"': estimator.recipe != "default",
        }
    )
    networks = [design_network(estimator, n_outputs, processing=kind) for kind in SMOOTH]
    _check_smooth({"an aggregation or activation": not networks[0].adds})
    return networks


def _check_smooth(wrong: dict[str, bool]) -> None:
    for what, is_so in wrong.items():
        if is_so:
            raise InputError(
                f'{what}: expected a named processing function, got "smooth", which the '
                "default recipe chooses, with all rows, for networks that sum; name "
                '"sigmoid" or "tanh_prod"'
            )


def design_network(
    estimator: NewronEstimator,
    n_outputs: int,
    hidden: tuple[int, ...] | None = None,
    processing: str | Processing | tuple[str | Processing, ...] | None = None,
) -> Architecture:
    """Plan the network of these hidden layers, by default of those requested or found."""
    own: Any = estimator.hidden_layer_sizes_ if estimator._is_auto else estimator.hidden_layer_sizes
    sizes = own if hidden is None else hidden
    widths = [sizes] if isinstance(sizes, Integral) else list(sizes)
    if any(not isinstance(n, Integral) or n < 1 for n in widths):
        raise InputError(
            f"hidden_layer_sizes: expected whole numbers from 1 on, got {tuple(widths)}"
        )
    return plan_architecture(
        [int(n) for n in widths],
        n_outputs,
        processing=estimator.processing if processing is None else processing,
        aggregation=estimator.aggregation,
        activation=estimator.activation,
        n_factors=estimator.n_factors,
        functions_per_input=estimator.functions_per_input,
        direct_inputs=estimator.direct_inputs,
    )


def _choose_recipe(estimator: NewronEstimator, architecture: Architecture) -> Recipe:
    crisp = any(layer.function.crisp for layer in architecture.layers)
    recipe = get_recipe(estimator.recipe, crisp=crisp).adjust(
        max_iter=estimator.max_iter,
        batch_size=estimator.batch_size,
        learning_rate_init=estimator.learning_rate_init,
        weight_decay=estimator.weight_decay,
        n_iter_no_change=estimator.n_iter_no_change,
        tol=estimator.tol,
        n_init=estimator.n_init,
    )
    if estimator.early_stopping and recipe.n_iter_no_change is None:
        recipe = recipe.adjust(n_iter_no_change=max(20, recipe.max_iter // 10))
    return recipe


def _make_seed(estimator: NewronEstimator) -> np.random.SeedSequence:
    if isinstance(estimator.random_state, Integral):
        return np.random.SeedSequence(int(estimator.random_state))
    state = check_random_state(estimator.random_state)
    return np.random.SeedSequence(int(state.randint(np.iinfo(np.int32).max)))


def specify(
    estimator: NewronEstimator,
    fields: tuple[Field, ...],
    output: Output,
    class_weight: Floats | None,
    *,
    one_pass: bool = False,
    whole: bool = False,
) -> Specification:
    """Return what to train by an estimator's parameters; ``whole`` networks have no path."""
    architecture, *others = _plan_networks(estimator, output.n_scores, one_pass=one_pass)
    directions = read_directions(estimator._list_directions(), fields, architecture, output)
    if directions and estimator.n_factors > 1:
        others = []  # a product of factors rises and falls
    return Specification(
        architecture,
        _choose_recipe(estimator, architecture),
        output,
        input_scale=estimator.input_scale,
        class_weight=class_weight,
        directions=directions,
        periods=read_periods(estimator.domains, fields, architecture),
        validation_fraction=estimator.validation_fraction if estimator.early_stopping else None,
        max_terms=estimator.max_terms,
        size=WHOLE if whole or estimator.pruning else estimator.size,
        keep_constant=estimator.warm_start,
        own_decay=estimator.weight_decay is not None,
        own_starts=estimator.n_init is not None,
        others=tuple(others),
    )


def resume(
    estimator: NewronEstimator, spec: Specification, data: TrainingSet, one_pass: bool
) -> Specification:
    """Return the specification of a fit that may continue the one before."""
    if not (one_pass or estimator.warm_start):
        return spec
    before = _continue_from(estimator, spec, data, one_pass)
    spec = replace(spec, resume=before)
    if one_pass:
        recipe = replace(
            spec.recipe, max_iter=1, n_init=1, schedule="constant", blend_until=0.0,
            monitor="epoch", keep_best=False,
        )  # fmt: skip
        if before is not None and before.trained.state.steps == 0:
            # Adam's first steps are of full size, whatever the gradient: they would undo a polish.
            recipe = replace(recipe, learning_rate_init=_GENTLE * recipe.learning_rate_init)
        return replace(spec, recipe=recipe, validation_fraction=None, keep_constant=True)
    # A network that is continued is one of steps already.
    return spec if before is None else spec.adjust(blend_until=0.0)


def _continue_from(
    estimator: NewronEstimator, spec: Specification, data: TrainingSet, one_pass: bool
) -> CoreFit | None:
    fitted: FitResult | None = getattr(estimator, "_fitted", None)
    if fitted is None:
        return None
    core = fitted.core
    same = (
        core is not None
        and core.wiring.architecture == spec.architecture
        and _name_fields(core.encoding.schema) == data.fields
        and core.encoding.scales == estimator.input_scale
        and core.encoding.standardized == get_recipe(estimator.recipe, crisp=False).standardize
        and fitted.model.output == spec.output
    )
    if same:
        if one_pass and fitted.whole is not None:
            warnings.warn(
                "partial_fit goes on from the network before pruning, and does not prune it",
                NewronWarning,
                stacklevel=6,
            )
        return core
    if one_pass and estimator.recipe in ("default", "grow"):
        warnings.warn(
            "the network of the fit before was chosen by its recipe and cannot go on from a "
            'part of the rows: partial_fit starts anew; recipe="gradient" would go on',
            NewronWarning,
            stacklevel=6,
        )
        return None
    raise InputError(
        "expected the network, columns, classes and scales of the fit before to go on "
        "from it, got others (a grown network cannot go on); make a new estimator, with "
        'recipe="gradient"'
    )


def make_context(estimator: NewronEstimator) -> FitContext:
    """Return what a fit of an estimator runs in."""
    listed = (
        estimator.callbacks if isinstance(estimator.callbacks, Sequence) else [estimator.callbacks]
    )
    callbacks = [each for each in listed if each is not None]
    for each in callbacks:
        if not isinstance(each, Callback):
            raise InputError(f"callbacks: expected instances of newron.Callback, got {each!r}")
    if estimator.verbose:
        callbacks.append(ProgressLine())
    return FitContext(_make_seed(estimator), effective_n_jobs(estimator.n_jobs), callbacks)


def _name_fields(schema: Schema) -> tuple[Field, ...]:
    return tuple(Field(column.name, column.categories) for column in schema.columns)
