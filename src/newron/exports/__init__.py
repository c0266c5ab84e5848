"""Models that run anywhere: exports to other languages, equal to the model."""

from newron.exports.export import TARGETS, Export, export

__all__ = ["TARGETS", "Export", "export"]
