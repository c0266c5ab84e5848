"""``newron.datasets``: the 23 sets of the paper."""

import gzip
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import pytest

from datasets.tables import DRAWN, pd
from newron import datasets
from newron.errors import InputError, NewronError

ROOT = Path(__file__).parents[2]
DATA = ROOT / "src" / "newron" / "datasets" / "data"
DOCS = ROOT / "docs" / "datasets.md"

# Counted in the raw files: rows, numbers, categories, gaps, and the rows of each class.
COUNTS = {
    "adult": (48842, 6, 8, 6465, {"<=50K": 37155, ">50K": 11687}),
    "australian": (690, 10, 4, 0, {0: 383, 1: 307}),
    "b-c-w": (569, 30, 0, 0, {"B": 357, "M": 212}),
    "car": (1728, 6, 0, 0, {"unacc": 1210, "acc": 384, "good": 69, "vgood": 65}),
    "cleveland": (303, 10, 3, 6, {0: 164, 1: 55, 2: 36, 3: 35, 4: 13}),
    "crx": (690, 6, 9, 67, {"+": 307, "-": 383}),
    "diabetes": (768, 8, 0, 652, {0: 500, 1: 268}),
    "german": (1000, 9, 11, 0, {1: 700, 2: 300}),
    "glass": (214, 9, 0, 0, {1: 70, 2: 76, 3: 17, 5: 13, 6: 9, 7: 29}),
    "haberman": (306, 3, 0, 0, {1: 225, 2: 81}),
    "heart": (270, 10, 3, 0, {1: 150, 2: 120}),
    "hepatitis": (155, 19, 0, 167, {1: 32, 2: 123}),
    "image": (2310, 19, 0, 0, dict.fromkeys(range(1, 8), 330)),
    "ionosphere": (351, 34, 0, 0, {"g": 225, "b": 126}),
    "iris": (150, 4, 0, 0, dict.fromkeys(("Iris-setosa", "Iris-versicolor", "Iris-virginica"), 50)),
    "monks-1": (124 + 432, 6, 0, 0, {0: 278, 1: 278}),
    "monks-2": (169 + 432, 6, 0, 0, {0: 395, 1: 206}),
    "monks-3": (122 + 432, 6, 0, 0, {0: 266, 1: 288}),
    "sonar": (208, 60, 0, 0, {"M": 111, "R": 97}),
    "bisector": (1000, 2, 0, 0, {0: 468, 1: 532}),
    "xor": (1000, 2, 0, 0, {0: 467, 1: 533}),
    "parabola": (1000, 2, 0, 0, {0: 419, 1: 581}),
    "circle": (1000, 2, 0, 0, {0: 607, 1: 393}),
}
PARTS = {
    "adult": (32561, 16281),
    "image": (210, 2100),
    "monks-1": (124, 432),
    "monks-2": (169, 432),
    "monks-3": (122, 432),
}


def test_there_are_all_sets_of_the_paper_in_its_order():
    assert datasets.names() == tuple(COUNTS)


@pytest.mark.parametrize("name", COUNTS)
def test_a_set_has_the_rows_columns_gaps_and_classes_of_its_source(loaded, name):
    data, (rows, numbers, categories, gaps, classes) = loaded[name], COUNTS[name]
    kinds = list(data.kinds.values())
    assert (kinds.count("number"), kinds.count("category")) == (numbers, categories)
    assert data.X.shape == (rows, numbers + categories)
    assert int(data.X.isna().sum().sum()) == gaps
    assert data.y.value_counts().to_dict() == classes
    assert data.X.index.equals(data.y.index)
    assert str(rows) in repr(data)


@pytest.mark.parametrize("name", COUNTS)
def test_every_column_has_a_kind_and_the_dtype_of_its_kind(loaded, name):
    data = loaded[name]
    assert list(data.kinds) == list(data.X.columns)
    for column, kind in data.kinds.items():
        assert kind == "category" or str(data.X[column].dtype) in ("int64", "float64")
        assert (kind == "category") == isinstance(data.X[column].dtype, pd.CategoricalDtype)


@pytest.mark.parametrize("name", COUNTS)
def test_categories_are_words_or_whole_numbers_that_all_occur(loaded, name):
    data = loaded[name]
    for column in (c for c, kind in data.kinds.items() if kind == "category"):
        labels = data.X[column].cat.categories
        assert {type(label) for label in labels.tolist()} in ({str}, {int})
        assert set(labels) == set(data.X[column].dropna())
        assert not data.X[column].cat.ordered


@pytest.mark.parametrize("name", COUNTS)
def test_a_set_names_donors_page_licence_and_what_it_is(loaded, name):
    source = loaded[name].source
    assert source.title
    assert source.donors
    assert all(source.donors)
    assert source.page.startswith("https://")
    assert source.licence
    assert source.citation
    assert source.copy
    assert loaded[name].note.endswith((".", "²."))


def test_codes_without_an_order_are_categories_and_ordered_ones_numbers(loaded):
    heart = loaded["heart"]
    nominal = {c for c, kind in heart.kinds.items() if kind == "category"}
    assert nominal == {"chest_pain", "resting_ecg", "thal"}
    assert heart.X["chest_pain"].cat.categories.tolist() == [1, 2, 3, 4]
    assert loaded["crx"].X["A9"].cat.categories.tolist() == ["f", "t"]
    assert loaded["german"].X["purpose"].cat.categories[2] == "A410"


def test_ordered_words_become_numbers(loaded):
    first, last = loaded["car"].X.iloc[0], loaded["car"].X.iloc[-1]
    assert first.tolist() == [3, 3, 2, 2, 0, 0]
    assert last.tolist() == [0, 0, 5, 5, 2, 2]
    assert loaded["german"].X["employment"].head(3).tolist() == [4, 2, 3]


def test_gaps_are_missing_values_whatever_their_mark(loaded):
    gaps = {name: loaded[name].X.isna().sum() for name in COUNTS}
    found = {name: dict(counts[counts > 0]) for name, counts in gaps.items() if counts.any()}
    assert found["adult"] == {"workclass": 2799, "occupation": 2809, "native-country": 857}
    assert found["cleveland"] == {"ca": 4, "thal": 2}
    # Zeros in the source: nobody has a blood pressure of 0.
    assert found["diabetes"] == {"plas": 5, "pres": 35, "skin": 227, "insu": 374, "mass": 11}
    assert (loaded["diabetes"].X["preg"] == 0).sum() == 111
    assert set(found) == {"adult", "cleveland", "crx", "diabetes", "hepatitis"}


@pytest.mark.parametrize("name", COUNTS)
def test_the_parts_are_disjoint_and_together_the_set(loaded, name):
    data = loaded[name]
    if name not in PARTS:
        assert data.train is None
        assert data.test is None
        return
    assert (len(data.train), len(data.test)) == PARTS[name]
    assert sorted([*data.train, *data.test]) == list(range(len(data.X)))


@pytest.mark.parametrize("name", PARTS)
def test_a_part_can_be_loaded_alone(loaded, name):
    whole = loaded[name]
    for part, rows in (("train", whole.train), ("test", whole.test)):
        data = datasets.load(name, part=part)
        pd.testing.assert_frame_equal(data.X, whole.X.iloc[rows].reset_index(drop=True))
        pd.testing.assert_series_equal(data.y, whole.y.iloc[rows].reset_index(drop=True))
        assert data.train is None
        assert data.test is None


def test_the_parts_of_adult_are_the_original_files(loaded):
    data = loaded["adult"]
    assert (data.y.iloc[data.train] == ">50K").sum() == 7841
    assert (data.y.iloc[data.test] == ">50K").sum() == 3846


def test_the_training_part_of_image_has_30_rows_of_each_class_and_all_are_tested_too(loaded):
    data = loaded["image"]
    assert set(data.y.iloc[data.train].value_counts()) == {30}
    rows = [tuple(row) for row in data.X.assign(y=data.y).itertuples(index=False)]
    assert {rows[i] for i in data.train} <= {rows[i] for i in data.test}


@pytest.mark.parametrize(("name", "noisy"), [("monks-1", 0), ("monks-2", 0), ("monks-3", 6)])
def test_the_monks_follow_their_rules(loaded, name, noisy):
    data = loaded[name]
    a1, a2, _, a4, a5, _ = (data.X[c] for c in data.X)
    rule = {
        "monks-1": (a1 == a2) | (a5 == 1),
        "monks-2": (data.X == 1).sum(axis=1) == 2,
        "monks-3": ((a5 == 3) & (a4 == 1)) | ((a5 != 4) & (a2 != 3)),
    }[name]
    wrong = rule.astype(int) != data.y
    assert wrong.iloc[data.train].sum() == noisy
    assert not wrong.iloc[data.test].any()
    assert not data.X.iloc[data.test].duplicated().any()


def test_every_row_of_heart_is_one_of_cleveland(loaded):
    heart = set(map(tuple, loaded["heart"].X.astype(float).to_numpy()))
    cleveland = set(map(tuple, loaded["cleveland"].X.astype(float).to_numpy()))
    assert heart <= cleveland


def test_an_unknown_name_is_told_with_names_like_it():
    with pytest.raises(InputError, match=r"got 'hearth': did you mean 'heart'\?$"):
        datasets.load("hearth")
    with pytest.raises(ValueError, match=r"datasets\.names\(\), got 'mnist-1000': choose one"):
        datasets.load("mnist-1000")
    with pytest.raises(InputError, match=r"got \['heart'\]"):
        datasets.load(["heart"])


def test_a_part_that_is_not_there_is_told_with_what_to_do():
    with pytest.raises(InputError, match="got 'heart' without: leave part out") as told:
        datasets.load("heart", part="train")
    assert "\n" not in str(told.value)
    with pytest.raises(InputError, match="got 'xor' without"):
        datasets.load("xor", part="test")
    with pytest.raises(InputError, match="expected 'train', 'test' or None as part, got 'all'"):
        datasets.load("adult", part="all")


@pytest.mark.parametrize("seed", [-1, 0.5, "a", None])
def test_a_seed_that_is_none_is_told(seed):
    with pytest.raises(InputError, match="expected a whole number from 0 on as seed"):
        datasets.load("circle", seed=seed)


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(NewronError, match="run pip install pandas"):
        datasets.load("heart")
    assert len(datasets.names()) == 23


def test_importing_the_sets_does_not_import_pandas():
    code = "import sys, newron.datasets as d; d.names(); print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "False"


def test_all_is_small_enough_to_be_shipped():
    sizes = {f.name: len(f.read_bytes()) for f in (files("newron.datasets") / "data").iterdir()}
    shipped = {name.removesuffix(".csv.gz") for name in sizes if name.endswith(".csv.gz")}
    assert shipped == set(COUNTS) - set(DRAWN)
    assert max(sizes.values()) < 600_000
    assert sum(sizes.values()) < 1_000_000


@pytest.mark.skipif(not DATA.exists(), reason="the sources are not here")
def test_the_archives_carry_neither_a_time_nor_a_name():
    for path in DATA.glob("*.csv.gz"):
        header = path.read_bytes()[:10]
        assert header[3:8] == bytes(5), path.name
        assert "\r" not in gzip.decompress(path.read_bytes()).decode("utf-8")


@pytest.mark.skipif(not DOCS.exists(), reason="the docs are not here")
def test_the_table_in_the_docs_is_true(loaded):
    lines = [line for line in DOCS.read_text(encoding="utf-8").splitlines() if "| `" in line[:3]]
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    assert [f"`{name}`" for name in COUNTS] == [cells[0] for cells in told]
    for name, cells in zip(COUNTS, told, strict=True):
        rows, numbers, categories, gaps, classes = COUNTS[name]
        assert cells[1:6] == [str(n) for n in (rows, numbers, categories, len(classes), gaps)]
        parts = " + ".join(map(str, PARTS[name])) if name in PARTS else ""
        assert cells[6] == parts
        assert loaded[name].source.page in cells[7]
        assert cells[8] == loaded[name].source.licence.split(" (")[0]
