"""What was measured of a model, in its file: round trips, limits, hostile parts."""

import json
import pickle

import pytest

import newron
from builders.models import make_card
from newron.checker import check
from newron.errors import ModelError, ModelFileError
from newron.evaluation import Estimate
from newron.model import Measurement

SCORES = {
    "model": {"accuracy": Estimate(0.83, 0.78, 0.87), "log loss": Estimate(0.4, 0.3, 0.5)},
    "logistic regression": {"accuracy": Estimate(0.84, 0.79, 0.88)},
    "constant": {"accuracy": Estimate(0.56, 0.5, 0.61)},
}


def make_measurement(**parts):
    known = {"n_folds": 5, "n_trained": 270, "seed": 0, "source": "heart.csv", "date": "2026-11-18"}
    known = {**known, "fingerprint": "0a" * 32, **parts}
    return Measurement(known.pop("protocol", "cross-validation"), 270, SCORES, **known)


def write(path, **changes):
    document = make_card().attach(make_measurement()).to_dict()
    document["measured"][0] |= changes
    path.write_text(json.dumps(document))
    return path


def test_it_travels_in_the_file_and_in_pickles(tmp_path):
    model = make_card().attach(make_measurement())
    model.save(tmp_path / "m.json")
    assert newron.load(tmp_path / "m.json").measured == model.measured == (make_measurement(),)
    assert pickle.loads(pickle.dumps(model)).measured == model.measured


def test_a_file_without_it_still_loads(tmp_path):
    make_card().save(tmp_path / "m.json")
    assert "measured" not in json.loads((tmp_path / "m.json").read_text())
    assert newron.load(tmp_path / "m.json").measured == ()


def test_a_model_is_its_network_whatever_was_measured():
    model = make_card()
    measured = model.attach(make_measurement())
    assert measured == model
    assert measured.fingerprint == model.fingerprint


def test_a_certificate_stays_one_of_the_model():
    rules = make_card().rules()
    document = make_card().attach(make_measurement()).to_dict()
    check(rules.to_text(notes=False), document, rules.proof.certificate)


def test_the_best_baseline_that_is_better_is_named_first():
    assert make_measurement().better == ("logistic regression",)
    values = {
        "model": {"mean absolute error": Estimate(2.0, 1.0, 3.0)},
        "ridge regression": {"mean absolute error": Estimate(1.5, 1.0, 2.0)},
        "constant": {"mean absolute error": Estimate(4.0, 3.0, 5.0)},
    }
    assert Measurement("test rows", 9, values).better == ("ridge regression",)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"protocol": "training rows"}, "protocol: expected one of"),
        ({"folds": 1}, "folds: 1 is not possible"),
        ({"folds": 271}, "folds: 271 is not possible"),
        ({"rows": 0}, "rows: 0 is not possible"),
        ({"rows": 1.5}, "expected a whole number"),
        ({"seed": -1}, "seed: -1 is not possible"),
        ({"data": "a" * 201}, "at most 200 characters"),
        ({"fingerprint": "<script>"}, "expected 64 hexadecimal digits"),
        ({"date": "today"}, "expected a day such as"),
        ({"more": 1}, "does not know 'more'"),
        ({"scores": []}, "expected scores"),
        ({"scores": {}}, "'model' first"),
        ({"scores": {f"p{i}": {} for i in range(21)}}, "at most 20 predictors"),
        ({"scores": {"model": {}}}, "begin with one of"),
        ({"scores": {"model": {"luck": {}}}}, "does not know 'luck'"),
        ({"scores": {"model": {"accuracy": {"value": 1.5, "low": 0, "high": 1}}}}, "1.5 is not"),
        ({"scores": {"model": {"accuracy": {"value": 0.5, "low": 1, "high": 0}}}}, "the other way"),
        ({"scores": {"model": {"accuracy": {"value": 0.5}}}}, "expected 'high'"),
    ],
)
def test_hostile_parts_get_one_clear_line(tmp_path, changes, message):
    with pytest.raises(ModelFileError, match=message) as caught:
        newron.load(write(tmp_path / "m.json", **changes))
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400


def test_their_number_is_limited(tmp_path):
    document = make_card().attach(make_measurement()).to_dict()
    document["measured"] *= 21
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match="at most 20 measurements, got 21"):
        newron.load(tmp_path / "m.json")


def test_an_error_of_numbers_is_none_of_classes():
    values = {"model": {"mean absolute error": Estimate(2.0, 1.0, 3.0)}}
    with pytest.raises(ModelError, match="expected measurements of accuracy"):
        make_card().attach(Measurement("test rows", 9, values))
