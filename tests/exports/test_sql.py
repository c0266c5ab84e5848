"""Queries, run by DuckDB, SQLite and PostgreSQL: they say what the model says."""

import numpy as np
import pytest

from exports.cases import make_cases
from exports.databases import open_duckdb, open_postgres, open_sqlite
from newron.exports import export
from newron.exports.clause import has_text, tell_label
from newron.model import Classes

OPENERS = {"duckdb": open_duckdb, "sqlite": open_sqlite, "postgres": open_postgres}
N_MODELS = 36


@pytest.fixture(scope="module", params=list(OPENERS))
def database(request):
    with OPENERS[request.param]() as opened:
        for k, case in enumerate(make_cases(N_MODELS)):
            opened.fill(f"table {k}", case)
        yield opened


def ask(database, k, model, **settings):
    query = export(
        model, "sql", dialect=database.dialect, table=[f"table {k}"], keep=["row id"], **settings
    )
    return database.ask(query.text)


def tell(model):
    """Give the labels as a query tells them."""
    labels = model.output.labels
    return [tell_label(label) for label in labels] if has_text(labels) else list(labels)


def check(case, names, rows, *, bits):
    assert len(rows) == len(case.table)
    told = [list(row[1:]) for row in rows]
    if not isinstance(case.model.output, Classes):
        amounts = np.array(told, float)
        if bits:
            np.testing.assert_array_equal(amounts, case.scores, err_msg=case.name)
        else:
            np.testing.assert_allclose(amounts, case.scores, rtol=1e-9, atol=1e-9)
        return
    labels = tell(case.model)
    assert [row[0] for row in told] == [labels[k] for k in case.classes], case.name
    shares = np.array([row[1:] for row in told], float)
    np.testing.assert_allclose(shares, case.probabilities, rtol=0, atol=1e-9, err_msg=case.name)


class TestNetwork:
    def test_every_row_gets_the_same_class_and_probabilities(self, database):
        for k, case in enumerate(make_cases(N_MODELS)):
            check(case, *ask(database, k, case.model), bits=True)
        database.check_guard()
