"""The processing functions h by their names, and those of one's own as they are.

:mod:`newron.neurons.builtin` has the formulas; the struct of the same name in
``cpp/core/processing.h``, where there is one, computes it fast.
"""

from newron.errors import ModelError
from newron.neurons.builtin import PROCESSING
from newron.neurons.processing import Processing


def processing_names() -> tuple[str, ...]:
    """Return the names of the processing functions that newron comes with.

    Returns
    -------
    tuple of str

    Examples
    --------
    >>> "heaviside" in processing_names()
    True
    """
    return tuple(PROCESSING)


def get_processing(name: str | Processing) -> Processing:
    """Return the processing function of a name; one of your own is returned as it is.

    - ``name``: One of :func:`processing_names`, or what :func:`newron.neurons.processing` made.

    Raises ModelError: If there is none of this name.

    >>> get_processing("heaviside").crisp
    True
    """
    if isinstance(name, Processing):
        return name
    try:
        return PROCESSING[name]
    except (KeyError, TypeError):
        known = ", ".join(PROCESSING)
        raise ModelError(f"expected a processing function among {known}, got {name!r}") from None
