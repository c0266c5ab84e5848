"""The engine of the default recipe: an additive model on bins, compressed to few functions."""

from newron.engine.fitting import Options, extend, fit, fit_rows, has_pairs
from newron.engine.result import Band, EngineFit
from newron.engine.terms import TermColumns

__all__ = [
    "Band", "EngineFit", "Options", "TermColumns", "extend", "fit", "fit_rows", "has_pairs",
]  # fmt: skip
