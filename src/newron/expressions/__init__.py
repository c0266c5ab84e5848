"""Formulas as trees: what functions, neurons and losses compute, whoever computes it.

A formula is traced from a Python function (``tracing``) or read from a model's file (``data``),
and becomes NumPy's meaning and the core's programs (``tape``), bounds (``enclosure``) and the
exports' texts. ``definitions`` has exp, log and the like in operations that IEEE 754 defines.
"""
