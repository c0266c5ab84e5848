"""Training on a Dask cluster: collections in, a plain :class:`newron.Model` out.

Needs the extra ``dask`` (``pip install 'newron-ian[dask]'``). See docs/scale.md.
"""

from newron.dask.estimators import DaskNewronClassifier, DaskNewronRegressor

__all__ = ["DaskNewronClassifier", "DaskNewronRegressor"]
