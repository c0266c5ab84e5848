"""Model files: round trips, and what is done with damaged or hostile ones."""

import json
import os
import pickle
import signal
import stat
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import newron
from builders.models import make_card
from model.networks import make_model, with_ranks
from newron.errors import ModelFileError
from newron.model.document_reader import from_dict


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


@pytest.mark.skipif(os.name != "posix", reason="permissions as Unix has them")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664])
def test_a_file_keeps_its_permissions(tmp_path, mode):
    path = tmp_path / "m.json"
    make_model(1).save(path)
    path.chmod(mode)
    make_model(2).save(path)
    assert stat.S_IMODE(path.stat().st_mode) == mode
    assert newron.load(path) == make_model(2)


SAVE_SLOWLY = """
import os, sys, time
import newron
model = newron.load(sys.argv[1])
def wait(handle):
    print("writing", flush=True)
    time.sleep(60)
os.fsync = wait
model.save(sys.argv[2])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="files without a name")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_kill_while_writing_leaves_nothing_behind(tmp_path, number):
    make_model(1).save(tmp_path / "m.json")
    folder = tmp_path / "folder"
    folder.mkdir()
    command = [sys.executable, "-c", SAVE_SLOWLY, str(tmp_path / "m.json"), str(folder / "n.json")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "writing\n"
        process.send_signal(number)
    assert list(folder.iterdir()) == []


def test_without_unnamed_files_it_is_written_all_the_same(tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    path = tmp_path / "m.json"
    make_model(1).save(path)
    path.chmod(0o600)
    make_model(2).save(path)
    assert newron.load(path) == make_model(2)
    assert [p.name for p in tmp_path.iterdir()] == ["m.json"]
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600


def make_one_step(**changes):
    """One step on one column; changes of the column, or other classes."""
    classes = changes.pop("classes", ("a", "b"))
    column = newron.model.Column(**{"name": "age", "low": 29.0, "high": 77.0, **changes})
    layer = newron.model.Layer(
        "heaviside", "sum", "identity", 1, [0], [0], [[1.0]], [[54.5]], centre=[0.5]
    )
    return newron.Model(newron.model.Schema((column,)), [layer], newron.model.Classes(classes))


@pytest.mark.parametrize("changes", [{"name": "a\ud800"}, {"classes": ("a", "\udfff")}])
def test_a_name_that_no_file_can_hold_is_one_clear_error(tmp_path, changes):
    with pytest.raises(ModelFileError, match="Unicode text") as caught:
        make_one_step(**changes).save(tmp_path / "m.json")
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


def test_classes_that_differ_by_a_last_nul_stay_apart(tmp_path):
    model = make_one_step(classes=("a", "a\0"))
    model.save(tmp_path / "m.json")
    again = newron.load(tmp_path / "m.json")
    assert again == model
    assert again.predict([[50.0], [60.0]]).tolist() == ["a", "a\0"]


def test_more_than_a_thousand_classes_are_saved_and_predicted(tmp_path):
    n = 1200
    layer = newron.model.Layer(
        "heaviside", "sum", "identity", n, range(n), [0] * n, [[1.0]] * n,
        [[k - 0.5] for k in range(n)], alpha=np.arange(1.0, n + 1), centre=np.zeros(n),
    )  # fmt: skip
    schema = newron.model.Schema((newron.model.Column("age", 0.0, float(n)),))
    model = newron.Model(schema, [layer], newron.model.Classes(tuple(range(n))))
    model.save(tmp_path / "m.json")
    again = newron.load(tmp_path / "m.json")
    assert again == model
    assert again.predict([[0.0], [700.0], [1199.0]]).tolist() == [0, 700, 1199]


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
        "function number": put(["layers", 0, "neurons", 0, "functions"], [5]),
        "function text": put(["layers", 0, "neurons", 0, "functions"], ["w"]),
        "function with levels": put(["layers", 0, "neurons", 0, "functions"], ["levels"]),
        "empty values": put(["inputs", 0, "values"], []),
        "huge values": put(["inputs", 0, "values"], [0.0, 1e308]),
        "empty categories": put(["inputs", 0], {"name": "age", "categories": []}),
        "categories true and 1": put(["inputs", 0], {"name": "age", "categories": [True, 1]}),
        "infinite category": put(["inputs", 0], {"name": "age", "categories": [0]}).replace(
            '"categories": [0]', '"categories": [1e999]'
        ),
        "half a character in a name": put(["inputs", 0, "name"], "\ud800"),
        "half a character in a class": put(["output"], {"classes": ["a", "\udfff"]}),
        "half a character in a category": put(
            ["inputs", 0], {"name": "age", "categories": ["\ud83d", "b"]}
        ),
        "class of 400 digits": put(["output"], {"classes": [1, 10**400]}),
        "category of 400 digits": put(["inputs", 0], {"name": "age", "categories": [-(10**400)]}),
        "long name": put(["inputs", 0], {"name": "a" * 100_000, "low": 1, "high": 0}),
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


def error_of(path) -> str:
    with pytest.raises(ModelFileError) as caught:
        newron.load(path)
    return str(caught.value)


def test_damaged_and_hostile_files_get_one_clear_error(tmp_path):
    cases = damage(make_text(tmp_path))
    assert len(cases) > 35
    for name, content in cases.items():
        path = tmp_path / "bad.json"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        message = error_of(path)
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


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"unit": 0.0}, "unit: expected a positive number"),
        ({"unit": "a"}, "the unit"),
        ({"unit": 0.5, "offset": 0.5}, "offset: expected a number from 0 to less than the unit"),
        ({"unit": 0.5, "offset": -0.1}, "offset: expected"),
        ({"unit": 0.5}, "adds whole numbers"),
        ({"unit": 0.5, "link": "log"}, "either"),
    ],
)
def test_a_unit_of_points_is_checked(tmp_path, changes, message):
    document = make_card().to_dict()  # its centre is 1.5
    document["output"] |= changes
    (tmp_path / "m.json").write_text(json.dumps(document))
    with pytest.raises(ModelFileError, match=message):
        newron.load(tmp_path / "m.json")


def test_whole_points_travel_with_their_unit(tmp_path):
    document = make_card().to_dict()
    document["output"] |= {"unit": 0.5, "offset": 0.25}
    document["layers"][-1]["neurons"][0]["centre"] = 2.0
    (tmp_path / "m.json").write_text(json.dumps(document))
    model = newron.load(tmp_path / "m.json")
    assert (model.output.unit, model.output.offset) == (0.5, 0.25)
    assert model.to_dict()["output"] == document["output"]
