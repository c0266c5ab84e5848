"""Labels of categories and classes where a language has but one type for them."""

from __future__ import annotations

from collections.abc import Sequence

from newron.formatting import format_label
from newron.model.schema import Label

__all__ = ["has_text", "tell_label"]


def has_text(labels: Sequence[Label]) -> bool:
    """Tell whether labels are compared as texts: some are."""
    return any(isinstance(label, str) for label in labels)


def tell_label(label: Label) -> str:
    """Give a label as text."""
    if isinstance(label, bool):
        return "true" if label else "false"
    return label if isinstance(label, str) else format_label(label)
