"""Set before anything imports SciPy: scikit-learn then runs its array-API check too."""

import os

os.environ.setdefault("SCIPY_ARRAY_API", "1")
