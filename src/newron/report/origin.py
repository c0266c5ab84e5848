"""How a model came to be, for its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Origin:
    """How a model was trained; what is not known is left out.

    Parameters
    ----------
    recipe : str
        The name of the recipe.
    settings : mapping
        The settings that were chosen, by name.
    seed : str
        The seed as it was given.
    versions : mapping
        Of the programs that trained it, by name.
    n_rows : int, optional
        How many rows it was trained on.
    fingerprint : str
        A hash of these rows, the names of the columns and the targets.
    command : str
        The command that trained it.
    notes : tuple of str
        What the training found worth a note.

    Examples
    --------
    >>> Origin(recipe="grow", settings={"max_terms": 12}, n_rows=303).recipe
    'grow'
    """

    recipe: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    seed: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    n_rows: int | None = None
    fingerprint: str = ""
    command: str = ""
    notes: tuple[str, ...] = ()
