"""Tables in files: CSV, JSON lines, Parquet and Arrow, read in batches.

CSV and JSON lines are read with Python's own ``csv`` and ``json``, so that a plain install
reads them and every install reads them alike; Parquet and Arrow need pyarrow, the extra
``files``. What a file is, its content says, not its name.
"""

from newron.command.tables.encoder import Encoder
from newron.command.tables.opening import open_table
from newron.command.tables.source import Batch, Source
from newron.command.tables.table import Table, Target, Wanted, load_table

__all__ = ["Batch", "Encoder", "Source", "Table", "Target", "Wanted", "load_table", "open_table"]
