"""The engine of the default recipe: an additive model on bins, compressed to few functions."""

from newron.engine.fitting import Options, extend, fit, fit_rows, has_pairs
from newron.engine.result import Band, EngineFit

__all__ = ["Band", "EngineFit", "Options", "extend", "fit", "fit_rows", "has_pairs"]
