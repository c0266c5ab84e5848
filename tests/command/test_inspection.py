"""``newron inspect``."""

import json

from builders.models import make_regression


class TestInspect:
    def test_inputs_layers_and_output(self, run, model):
        lines = [line.split() for line in run("inspect", model).stdout.splitlines()]
        assert ["age", "0", "to", "100,", "or", "missing", "1", "function"] in lines
        assert ["colour", "3", "categories:", "blue,", "green,", "red", "1", "function"] in lines
        assert ["2", "classes:", "no,", "yes"] in lines

    def test_json(self, run, tmp_path):
        make_regression().save(tmp_path / "m.json")
        printed = json.loads(run("inspect", "m.json", "--json").stdout)
        assert printed["fingerprint"] == make_regression().fingerprint
        assert printed["output"] == {"targets": ["price"]}
        assert printed["layers"][0]["processing"] == "sigmoid"
