import numpy as np
import pytest
from sklearn.base import clone

import newron.data
from builders.large_tables import make_frame, shrink_blocks, write_parts
from newron import InputError, NewronClassifier, NewronRegressor, NewronSurvival
from newron.tables import encode

INPUTS = ["a", "b", "c", "d", "kind", "whole"]
OTHERS = {"label", "size", "level", "weight"}


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch):
    shrink_blocks(monkeypatch)


@pytest.fixture(scope="module")
def frame():
    return make_frame()


@pytest.fixture(scope="module")
def pattern(frame, tmp_path_factory):
    return write_parts(frame, tmp_path_factory.mktemp("parts"))


def open_parts(pattern, target, weight=None, **how):
    return newron.data.open(pattern, drop=OTHERS - {target, weight}, **how)


def fit_all_sources(make, frame, pattern, target, tmp_path, weight=None):
    """Yield models of the same table from memory, batches, Parquet and CSV."""
    X, y = frame[INPUTS], frame[target]
    weights = None if weight is None else frame[weight]
    yield make().fit(X, y, weights)
    yield make(n_jobs=2).fit(encode(X), y, weights)
    yield make().fit(open_parts(pattern, target, weight), target, weight)
    yield make(n_jobs=2).fit(open_parts(pattern, target, weight, memory=0), target, weight)
    parts = [frame[i : i + 777] for i in range(0, len(frame), 777)]
    batches = newron.data.from_batches(parts, drop=OTHERS - {target, weight}, memory=200_000)
    yield make().fit(batches, target, weight)
    frame.to_csv(tmp_path / "table.csv", index=False)
    yield make().fit(open_parts(tmp_path / "table.csv", target, weight), target, weight)


@pytest.mark.parametrize(
    ("make", "target", "weight"),
    [
        (lambda **how: NewronClassifier("smooth", **how), "label", None),
        (lambda **how: NewronClassifier(max_terms=4, random_state=0, **how), "label", "weight"),
        (lambda **how: NewronRegressor("sigmoid", **how), "size", "weight"),
        (
            lambda **how: NewronClassifier(
                "sigmoid", class_weight="balanced", hidden_layer_sizes=(), random_state=0, **how
            ),
            "level",
            None,
        ),
    ],
)
def test_all_sources_give_the_same_model_to_the_last_bit(
    make, target, weight, frame, pattern, tmp_path
):
    fitted = list(fit_all_sources(make, frame, pattern, target, tmp_path, weight))
    assert len({each.model_.fingerprint for each in fitted}) == 1
    assert len({each._record["fingerprint"] for each in fitted}) == 1
    assert fitted[2].feature_names_in_.tolist() == INPUTS


def test_the_model_of_a_large_table_is_as_good_as_that_of_one_in_memory(
    frame, pattern, monkeypatch
):
    streamed = NewronClassifier("smooth", random_state=0).fit(open_parts(pattern, "label"), "label")
    monkeypatch.setattr("newron.training.large.LARGE_CELLS", 10**9)
    whole = NewronClassifier("smooth", random_state=0).fit(frame[INPUTS], frame["label"])
    new = make_frame(4_000, seed=1)
    scores = [each.score(new[INPUTS], new["label"]) for each in (streamed, whole)]
    assert scores[0] > 0.7
    assert scores[0] == pytest.approx(scores[1], abs=0.01)
    assert "late" in streamed.model_.schema.columns[4].categories
    assert streamed.model_.schema.columns[2].gaps


def test_a_memory_mapped_array_gives_the_model_of_the_array(tmp_path, frame):
    X, y = frame[["a", "b", "c", "d"]].to_numpy(), frame["label"].to_numpy()
    mapped = np.memmap(tmp_path / "X.npy", np.float64, "w+", shape=X.shape)
    mapped[:] = X
    mapped.flush()
    models = [NewronClassifier(random_state=0).fit(each, y).model_ for each in (X, mapped)]
    assert models[0].fingerprint == models[1].fingerprint


def test_a_small_data_set_is_read_whole_and_gives_the_model_of_the_frame(
    frame, pattern, monkeypatch
):
    monkeypatch.setattr("newron.training.large.LARGE_CELLS", 10**9)
    one = NewronRegressor("sigmoid", hidden_layer_sizes=()).fit(open_parts(pattern, "size"), "size")
    other = NewronRegressor("sigmoid", hidden_layer_sizes=()).fit(frame[INPUTS], frame["size"])
    assert one.model_.fingerprint == other.model_.fingerprint


def test_directions_hold_and_domains_are_declared_on_large_tables(pattern):
    data = open_parts(pattern, "size")
    how = {"monotonic_cst": {"whole": 1}, "domains": {"whole": "pieces"}, "n_factors": 1}
    model = NewronRegressor("sigmoid", **how).fit(data, "size").model_
    rows = np.zeros((6, 6))
    rows[:, 5] = np.arange(6)
    assert np.all(np.diff(model.score_rows(rows)[:, 0]) >= 0.0)
    assert model.schema.columns[5].unit == "pieces"


@pytest.mark.parametrize(
    ("estimator", "target", "message"),
    [
        (NewronClassifier(recipe="gradient"), "label", 'expected recipe="default"'),
        (NewronClassifier(pruning=True), "label", "trained in blocks"),
        (NewronClassifier("relu"), "label", "processing"),
        (NewronClassifier(), "size", "classes that repeat"),
        (NewronRegressor("smooth"), "label", "expected numbers for regression"),
        (NewronRegressor("smooth", objective="poisson"), "size", "expected targets"),
        (NewronClassifier(), "lable", "did you mean 'label'"),
        (NewronClassifier(), np.zeros(3), "y: expected the name of one column"),
        (NewronClassifier(), ["label", "level"], "y: expected the name of one column"),
        (NewronClassifier("smooth", objective="ordinal"), "level", "limits are found"),
        (NewronSurvival(), ["size", "label"], "X: expected a table in memory, of whose subjects"),
    ],
)
def test_what_cannot_be_trained_in_blocks_is_said_in_one_line(estimator, target, message, pattern):
    data = newron.data.open(pattern)
    with pytest.raises(InputError, match=message) as caught:
        estimator.fit(data, target)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "call",
    [
        lambda fitted, data: fitted.predict(data),
        lambda fitted, data: fitted.score(data, "label"),
        lambda fitted, data: fitted.partial_fit(data, "label"),
    ],
)
def test_what_takes_tables_in_memory_says_so_of_a_data_set(call, frame, pattern):
    fitted = NewronClassifier("smooth").fit(frame[INPUTS], frame["label"])
    with pytest.raises(InputError, match="got a data set, which fit alone takes"):
        call(fitted, open_parts(pattern, "label"))


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (NewronRegressor("smooth", objective="quantile"), "size"),
        (NewronRegressor("smooth", objective="absolute"), "size"),
        (NewronRegressor("smooth", objective="poisson"), "level"),
        (NewronRegressor("heaviside", size=5), "size"),
        (NewronClassifier("smooth", class_weight={"no": 1, "yes": 4}), "label"),
    ],
)
def test_tasks_on_data_sets_are_those_of_the_frame(estimator, target, frame, pattern):
    in_memory = clone(estimator).fit(frame[INPUTS], frame[target]).model_
    streamed = estimator.fit(open_parts(pattern, target), target).model_
    assert streamed.fingerprint == in_memory.fingerprint


def test_an_interrupted_fit_keeps_the_model_of_some_rows(pattern):
    from newron import Callback, InterruptedWarning

    class Stop(Callback):
        def on_progress(self, progress):
            return True

    data = open_parts(pattern, "label")
    with pytest.warns(InterruptedWarning):
        found = NewronClassifier("smooth", callbacks=Stop()).fit(data, "label")
    assert set(found.classes_) == {"yes", "no"}
