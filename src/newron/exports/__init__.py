"""Models that run anywhere: exports to other languages, equal to the model."""

from newron.exports.export import Export

__all__ = ["Export"]
