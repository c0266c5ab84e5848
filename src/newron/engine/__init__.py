"""The engine of the default recipe: an additive model on bins, compressed to few functions."""

from newron.engine.fitting import Options, fit, fit_rows
from newron.engine.result import Band, EngineFit

__all__ = ["Band", "EngineFit", "Options", "fit", "fit_rows"]
