"""Tables beyond memory: files, folders and batches that ``fit`` reads in blocks.

``newron.data.open("folder/*.parquet")`` is taken wherever X is in ``fit``, with the name of a
column for y. A table that is small is read whole; of a large one only bins of one byte stay, in
memory up to a budget and then on disk. The network is the same to the last bit, whatever the
rows come from. See docs/scale.md.
"""

from newron.data.dataset import Dataset, from_batches, open  # noqa: A004 - as the built-in one

__all__ = ["Dataset", "from_batches", "open"]
