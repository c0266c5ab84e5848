"""Builders that several modules of tests here share."""

from newron.search import NewronSearchCV
from search.tables import make_corner, make_network


def search_corner(n_jobs=None, **settings):
    X, y = make_corner()
    settings = {"cv": 3, "patience": 2, "max_structures": 8, "random_state": 0, **settings}
    return NewronSearchCV(make_network(), n_jobs=n_jobs, **settings).fit(X, y)
