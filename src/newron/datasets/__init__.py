"""The 23 data sets of the paper: nineteen shipped with the package, four drawn by seed.

Nothing here uses the network. ``docs/datasets.md`` describes every set.
"""

from newron.datasets.catalogue import names
from newron.datasets.dataset import Dataset, Kind, Source
from newron.datasets.loader import load

__all__ = ["Dataset", "Kind", "Source", "load", "names"]
