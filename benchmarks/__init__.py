"""Measurements. They import newron, never the reverse."""
