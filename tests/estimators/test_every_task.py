"""Every task in every reader: it works, or raises one clear error."""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import newron
from newron import NewronClassifier, NewronRegressor, NewronSurvival
from newron.errors import NewronError, NewronWarning
from newron.evaluation import measure_model
from newron.neurons import objective

N = 60


@objective
def quartic(score, target):
    """Weigh errors by their fourth power, and a little by their square."""
    error = score - target
    return error * error + 0.1 * error * error * error * error


TASKS = {
    "two classes": (NewronClassifier, {}),
    "three classes": (NewronClassifier, {}),
    "ordinal": (NewronClassifier, {"objective": "ordinal"}),
    "labels": (NewronClassifier, {}),
    "squared": (NewronRegressor, {}),
    "absolute": (NewronRegressor, {"objective": "absolute"}),
    "huber": (NewronRegressor, {"objective": "huber"}),
    "quantile": (NewronRegressor, {"objective": "quantile:0.8"}),
    "quantiles": (NewronRegressor, {"objective": "quantile:0.2,0.8"}),
    "poisson": (NewronRegressor, {"objective": "poisson"}),
    "gamma": (NewronRegressor, {"objective": "gamma"}),
    "tweedie": (NewronRegressor, {"objective": "tweedie"}),
    "own loss": (NewronRegressor, {"objective": quartic()}),
    "two targets": (NewronRegressor, {}),
    "survival": (NewronSurvival, {"objective": "survival:4"}),
}
NUMBERS = tuple(name for name, (kind, _) in TASKS.items() if kind is NewronRegressor)
LINKS = ("poisson", "gamma", "tweedie", "labels", "quantiles")
SOFT = ("rules", "rules in SQL", "score card", "prove")  # of crisp networks alone


def draw(task):
    """Return a table with a category and missing values, and what the task predicts."""
    rng = np.random.default_rng(2110)
    X = pd.DataFrame({"a": rng.uniform(size=N).round(2), "b": rng.uniform(size=N).round(2)})
    X["c"] = rng.choice(["red", "blue"], N)
    X.loc[::11, "b"] = np.nan
    level = 2.0 * (X["a"] > 0.5) + (X["c"] == "red") + rng.normal(scale=0.3, size=N)
    y = {
        "two classes": np.where(level > 1.5, "high", "low"),
        "three classes": np.array(["l", "m", "n"])[np.digitize(level, [0.7, 2.2])],
        "ordinal": np.digitize(level, [0.7, 2.2]),
        "labels": pd.DataFrame({"big": level > 1.0, "blue": X["c"] == "blue"}),
        "poisson": rng.poisson(np.exp(0.6 * level)),
        "gamma": np.exp(0.5 * level),
        "tweedie": np.where(level < 0.3, 0.0, np.exp(0.5 * level)),
        "two targets": np.column_stack([level, -level]),
        "survival": (rng.uniform(size=N) < 0.8, np.exp(2.0 - 0.5 * level).round(2)),
    }
    return X, y.get(task, level.to_numpy())


@pytest.fixture(scope="module", params=["heaviside", "sigmoid"])
def processing(request):
    return request.param


@pytest.fixture(scope="module", params=TASKS)
def fitted(request, processing):
    kind, settings = TASKS[request.param]
    X, y = draw(request.param)
    model = kind(
        processing, hidden_layer_sizes=(), max_terms=3, monotonic_cst={"a": 1}, random_state=0,
        recipe="grow" if processing == "heaviside" else "default", **settings,
    )  # fmt: skip
    if request.param == "ordinal":
        model.set_params(monotonic_cst=None if processing == "heaviside" else {"a": 1})
    if request.param in ("three classes", "survival"):
        model.set_params(monotonic_cst=None)
    extra = {"offset": np.linspace(-0.1, 0.1, N)} if request.param == "poisson" else {}
    return request.param, model.fit(X, y, **extra), X, y


def list_readers(model, X, y, folder):
    """Return what reads a model, by name."""
    rows = model.at(X[:2]) if isinstance(model, NewronSurvival) else X[:2]
    exports = {
        to: lambda to=to: model.export(to).content
        for to in ("python", "javascript", "c", "sql", "onnx")
    }
    return {
        "predict": lambda: model.predict(X),
        "file": lambda: model.save(folder / "m.json") or newron.load(folder / "m.json").to_dict(),
        "text": lambda: str(model.model_),
        "rules": lambda: str(model.rules()),
        "prove": lambda: model.rules().proof.certificate,
        "score card": lambda: str(model.scorecard()),
        "shapes": lambda: str(model.shapes()),
        "curves": lambda: str(model.shapes(by="column")),
        "fuzzy": lambda: str(model.fuzzy()),
        "crisp": lambda: model.crisp(model.at(X) if isinstance(model, NewronSurvival) else X),
        "explain": lambda: str(model.explain(rows[:1])),
        "contributions": lambda: model.contributions(rows),
        "importance": lambda: str(model.importance(X, y)),
        "figure": lambda: model.plot(rows).svg,
        "plot of curves": lambda: model.shapes(by="column").to_dict(),
        "report": lambda: model.report(folder / "r.html", X, y),
        "measure": lambda: measure_model(model.model_, X, y),
        "calibrate": lambda: model.calibrate(X, y),
        "prune": lambda: model.prune(X, y, max_literals=1, nested=False),
        "score": lambda: model.score(X, y),
        "rules in SQL": lambda: model.export("sql", rules=True).text,
        **exports,
    }


# What does not apply, and so raises an error.
NOT = {
    "score card": (*NUMBERS, "three classes", "labels"),
    "measure": ("quantiles", "two targets"),
    "calibrate": ("labels", "survival"),
    "report": ("labels",),
    "importance": ("survival",),
    "prune": ("poisson", "survival"),  # poisson: it has an offset
    "rules in SQL": (*LINKS,),
}


def test_every_reader_reads_it_or_says_why_not(fitted, processing, tmp_path):
    task, model, X, y = fitted
    for name, read in list_readers(model, X, y, tmp_path).items():
        applies = task not in NOT.get(name, ())
        if processing != "heaviside" and name in SOFT:
            applies = False
        error = find_error(read)
        assert (error is None) == applies, f"{name} of {task}: {error}"
        assert error is None or "\n" not in str(error), name


def find_error(read):
    """Return the error that a reader raises, if it is one for users."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NewronWarning)
        try:
            read()
        except NewronError as error:
            return error
        except AttributeError as error:  # an estimator without this method
            if "object has no attribute 'calibrate'" in str(error):
                return error
            raise
    return None


def test_compiled_and_defined_scores_are_the_same_bits(fitted):
    task, model, X, _ = fitted
    rows = model.at(X) if task == "survival" else X
    own = model.model_.scores(rows, compiled=False)
    np.testing.assert_array_equal(own, model.model_.scores(rows))


def test_missing_and_unseen_values_are_predicted(fitted):
    _, model, X, _ = fitted
    rows = pd.concat([X[:2].assign(a=np.nan, b=np.nan), X[:1].assign(c="green")])
    with pytest.warns(NewronWarning, match="green"):
        assert len(model.predict(rows)) == 3


def test_the_command_predicts_and_inspects_it(fitted, tmp_path):
    from typer.testing import CliRunner

    from newron.command.application import app

    task, model, X, _ = fitted
    model.save(tmp_path / "m.json")
    X.to_csv(tmp_path / "t.csv", index=False)
    words = ("predict", tmp_path / "m.json", tmp_path / "t.csv", "-o", tmp_path / "o.jsonl")
    for arguments in (words, ("inspect", tmp_path / "m.json")):
        done = CliRunner().invoke(app, list(map(str, arguments)))
        assert done.exit_code == 0, done.output
    lines = Path(tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()
    own = np.asarray(model.predict(X)).reshape(N, -1)
    names = list(json.loads(lines[0]))[: own.shape[1]]
    got = np.array([[json.loads(line)[name] for name in names] for line in lines])
    if own.dtype.kind in "fiu":
        np.testing.assert_allclose(got.astype(float), own, err_msg=task)
    else:
        np.testing.assert_array_equal(got, own)
