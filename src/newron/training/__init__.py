"""From a table to a model: encode, train in the core, decode, snap.

Readers of a model never import this package.
"""
