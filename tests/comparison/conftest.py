"""The benchmarks are not installed: they are read from the project's folder."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
