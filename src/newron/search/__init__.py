"""The search for a structure: the paper's, as a scikit-learn estimator."""

from newron.search.search import NewronSearchCV

__all__ = ["NewronSearchCV"]
