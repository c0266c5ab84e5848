"""The search for a structure: the paper's, as a scikit-learn estimator."""

from newron.search.search import NewronSearchCV
from newron.search.structure import Candidate, Node, Tree

__all__ = ["Candidate", "NewronSearchCV", "Node", "Tree"]
