"""The engine of the default recipe: an additive model on bins, compressed to few functions."""

from newron.engine.compression import Compression
from newron.engine.fitting import EngineFit, Options, fit

__all__ = ["Compression", "EngineFit", "Options", "fit"]
