"""Model files: round trips, and what is done with damaged or hostile ones."""

import json
import os
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import newron
from model.networks import make_model, with_ranks
from newron.errors import ModelFileError
from newron.model.file import from_dict


@given(st.integers(0, 10**6))
@settings(max_examples=100, deadline=None)
def test_every_model_comes_back_the_same(tmp_path_factory, seed):
    model = with_ranks(make_model(seed), seed)
    path = tmp_path_factory.mktemp("models") / "m.json"
    model.save(path)
    assert newron.load(path) == model
    assert pickle.loads(pickle.dumps(model)) == model
    assert newron.load(path).fingerprint == model.fingerprint


def test_a_person_can_read_and_edit_the_file(tmp_path):
    path = tmp_path / "m.json"
    layer = newron.model.Layer(
        "heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.5]], alpha=[2.0], centre=[1.0]
    )
    columns = (newron.model.Column("age", 29.0, 77.0),)
    output = newron.model.Classes(("well", "ill"))
    newron.Model(newron.model.Schema(columns), [layer], output).save(path)
    text = path.read_text()
    assert '{"input": "age", "w": 1.0, "b": 54.5, "alpha": 2.0}' in text
    path.write_text(text.replace("54.5", "60"))
    assert newron.load(path).predict([[57.0]]).tolist() == ["well"]


def test_names_of_any_kind_survive(tmp_path):
    names = ['<script>alert("x")</script>', "naïve — 年齢", "a" * 300, "", "line\nbreak"]
    columns = tuple(newron.model.Column(name, 0.0, 1.0) for name in names)
    layer = newron.model.Layer("linear", "sum", "identity", 1, [0], [4], [[1.0]], [[0.0]])
    output = newron.model.Targets(("y",))
    model = newron.Model(newron.model.Schema(columns), [layer], output)
    model.save(tmp_path / "m.json")
    assert newron.load(tmp_path / "m.json").schema.names == tuple(names)


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "m.json"
    model = make_model(1)
    model.save(path)
    before = path.read_text()

    def fail(*_):
        raise OSError("disk full")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        make_model(2).save(path)
    assert path.read_text() == before
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]


def damage(text: str) -> dict[str, str | bytes]:
    document = json.loads(text)

    def edited(change):
        copy = json.loads(text)
        change(copy)
        return json.dumps(copy)

    function = ["layers", 0, "neurons", 0, "functions", 0]

    def put(path, value):
        def change(copy):
            for key in path[:-1]:
                copy = copy[key]
            copy[path[-1]] = value

        return edited(change)

    return {
        "empty": "",
        "not json": "model = 1",
        "binary": b"\x80\x04\x95\xff\xfe",
        "truncated": text[: len(text) // 2],
        "a list": "[]",
        "a number": "3",
        "another format": put(["format"], "pickle"),
        "future version": put(["version"], 99),
        "version zero": put(["version"], 0),
        "version text": put(["version"], "1"),
        "no layers key": json.dumps({k: v for k, v in document.items() if k != "layers"}),
        "no layers": put(["layers"], []),
        "layers number": put(["layers"], 1e9),
        "layers object": put(["layers"], {"0": {}}),
        "surplus key": put(["__class__"], "os.system"),
        "unknown function": put(["layers", 0, "processing"], "__import__('os')"),
        "function list": put(["layers", 0, "processing"], ["heaviside"]),
        "unknown aggregation": put(["layers", 0, "aggregation"], "median"),
        "unknown activation": put(["layers", 0, "activation"], None),
        "no neurons": put(["layers", 0, "neurons"], []),
        "unknown input": put([*function, "input"], "nobody"),
        "input number": put([*function, "input"], 3),
        "w text": put([*function, "w"], "1"),
        "w list": put([*function, "w"], [1.0, 2.0]),
        "w bool": put([*function, "w"], True),
        "w huge": put([*function, "w"], 10**400),
        "w null": put([*function, "w"], None),
        "scale": put([*function, "scale"], "log"),
        "rank without scale": put([*function, "scale"], "rank"),
        "some alpha": put([*function, "alpha"], None),
        "NaN": text.replace('"b": 54.5', '"b": NaN'),
        "Infinity": text.replace('"b": 54.5', '"b": -Infinity'),
        "1e999": text.replace('"b": 54.5', '"b": 1e999'),
        "low over high": put(["inputs", 0, "low"], 1e9),
        "same names": put(["inputs"], document["inputs"] * 2),
        "knots": put(["inputs", 0, "rank scale"], {"knots": [1, 1], "ranks": [0, 1]}),
        "one class": put(["output"], {"classes": ["a"]}),
        "too many classes": put(["output"], {"classes": ["a", "b", "c"]}),
        "class object": put(["output"], {"classes": [{}, []]}),
        "no output": put(["output"], {}),
        "deep": "[" * 100_000,
        "thousands of digits": text.replace("54.5", "9" * 5000),
        "no factors": put(["layers", 0, "processing"], "tanh_prod").replace(
            '"w": 1.0, "b": 54.5', '"w": [], "b": []'
        ),
        "infinite class": text.replace('["a", "b"]', "[0, 1e400]"),
        "twice": text.replace('"version": 1', '"version": 1, "version": 1'),
    }


def make_text(tmp_path):
    layer = newron.model.Layer(
        "heaviside", "sum", "identity", 1, [0, 0], [0, 0], [[1.0]] * 2, [[54.5], [60.0]],
        alpha=[2.0, 1.0], centre=[1.0],
    )  # fmt: skip
    schema = newron.model.Schema((newron.model.Column("age", 29.0, 77.0),))
    newron.Model(schema, [layer], newron.model.Classes(("a", "b"))).save(tmp_path / "good.json")
    return (tmp_path / "good.json").read_text()


def refusal_of(path) -> str:
    with pytest.raises(ModelFileError) as caught:
        newron.load(path)
    return str(caught.value)


def test_damaged_and_hostile_files_get_one_clear_error(tmp_path):
    cases = damage(make_text(tmp_path))
    assert len(cases) > 35
    for name, content in cases.items():
        path = tmp_path / "bad.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        message = refusal_of(path)
        assert message.startswith(str(path)), name
        assert "\n" not in message, name
        assert len(message) < 300, name


@given(st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(["format", "version", "inputs", "layers", "output", "name", "w", "b"]),
        inner, max_size=6,
    ),
    max_leaves=30,
))  # fmt: skip
@settings(max_examples=300, deadline=None)
def test_no_nonsense_makes_a_model_or_a_crash(document):
    if isinstance(document, dict):
        document = {**document, "format": "newron model", "version": 1}
    with pytest.raises(newron.ModelError):
        from_dict(document)


def test_a_link_keeps_pointing(tmp_path):
    (tmp_path / "link.json").symlink_to(tmp_path / "real.json")
    make_model(1).save(tmp_path / "link.json")
    assert (tmp_path / "link.json").is_symlink()
    assert newron.load(tmp_path / "real.json") == make_model(1)


def test_a_missing_file_is_the_usual_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        newron.load(tmp_path / "nothing.json")


def test_whole_numbers_are_read_as_numbers(tmp_path):
    text = make_text(tmp_path).replace("54.5", "54")
    (tmp_path / "m.json").write_text(text)
    assert newron.load(tmp_path / "m.json").layers[0].b[0, 0] == np.float64(54)
