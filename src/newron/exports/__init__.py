"""Models that run anywhere: exports to other languages, equal to the model."""

from newron.exports.export import TARGETS, export
from newron.exports.file import Export

__all__ = ["TARGETS", "Export", "export"]
