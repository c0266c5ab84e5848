"""Recipes: fixed procedures of training, each a set of settings with a name."""

from __future__ import annotations

from dataclasses import dataclass, replace

from newron.errors import InputError


@dataclass(frozen=True)
class Recipe:
    """How to train.

    - ``standardize``: Centre and scale the columns inside.
    - ``max_iter``, ``batch_size``: Epochs at most, and rows of a step.
    - ``learning_rate_init``: Adam's rate at its highest.
    - ``schedule``: How the rate changes over the epochs.
    - ``n_iter_no_change``, ``tol``: Stop when the loss has not fallen by tol in so many epochs.
    - ``monitor``: The loss that is watched: the mean over an epoch's steps, or that of the whole
      training set after the epoch.
    - ``keep_best``: End with the weights of the lowest watched loss instead of the last.
    - ``weight_decay``: Decoupled decay of w and alpha.
    - ``blend_until``: Share of the epochs over which a sigmoid turns into the Heaviside step.
    - ``n_init``: Restarts; the one of lowest loss is kept.
    - ``balanced``: Weigh classes inversely to their frequency unless the user sets them.
    - ``polish``: Re-choose every Heaviside threshold and direction by the exact loss, tune the
      weights, and polish again, for each restart.
    - ``stop_at_zero_error``: End all later restarts when one gets every training row right.
    """

    standardize: bool = True
    max_iter: int = 300
    batch_size: int = 128
    learning_rate_init: float = 0.1
    schedule: str = "cosine"
    n_iter_no_change: int | None = None
    tol: float = 0.0
    monitor: str = "exact"
    keep_best: bool = True
    weight_decay: float = 0.03
    blend_until: float = 0.0
    n_init: int = 5
    balanced: bool = False
    polish: bool = False
    stop_at_zero_error: bool = False

    def adjust(self, **settings: float | None) -> Recipe:
        """Return a copy with the settings that are not None."""
        return replace(self, **{k: v for k, v in settings.items() if v is not None})  # type: ignore[arg-type]


# The paper's appendix, to the letter.
_PAPER = Recipe(
    standardize=False,
    max_iter=10_000,
    schedule="constant",
    n_iter_no_change=250,
    tol=0.01,
    monitor="epoch",
    keep_best=False,
    weight_decay=0.0,
    n_init=1,
    balanced=True,
)

RECIPES = ("default", "gradient", "grow", "paper")

# Heaviside: more starts, each polished; they cost milliseconds.
_CRISP = Recipe(
    schedule="one_cycle", blend_until=0.7, n_init=10, polish=True, stop_at_zero_error=True
)


def get_recipe(name: object, *, crisp: bool) -> Recipe:
    """Return the recipe of this name, for a network with or without Heaviside.

    "default" and "grow" are procedures of several steps: what they train by
    gradients they train as "gradient" does.
    """
    if name == "paper":
        return _PAPER
    if name in RECIPES:
        return _CRISP if crisp else Recipe()
    raise InputError(f"expected a recipe among {', '.join(RECIPES)}, got {name!r}")


def choose_decay(n_rows: int) -> float:
    """Return the weight decay of smooth networks on so many rows."""
    return min(0.3, 240.0 / n_rows)
