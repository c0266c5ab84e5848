"""``newron prove``."""

import json
import re


class TestProve:
    def prove(self, run, tmp_path, text, *words):
        (tmp_path / "r.txt").write_text(text, encoding="utf-8")
        return run("prove", "model.json", "r.txt", *words)

    def test_equal_rules_are_proved(self, run, model, tmp_path):
        done = self.prove(run, tmp_path, "# mine\nIf age ≥ 50, then yes\nOtherwise no\n")
        assert done.exit_code == 0
        assert "  ✓ proved   the rules equal the network for all" in done.stdout

    def test_others_are_refuted_with_an_input(self, run, model, tmp_path):
        text = "If age ≥ 60, then yes\nOtherwise no\n"
        done = self.prove(run, tmp_path, text)
        assert done.exit_code == 1
        assert re.search(r"! refuted  for age = 5\d", done.stdout)
        printed = json.loads(self.prove(run, tmp_path, text, "--json").stdout)
        assert printed["equal"] is False
        assert 50 <= printed["counterexample"]["age"] < 60
        assert printed["predicted"] == {"rules": "no", "network": "yes"}

    def test_what_was_not_shown_is_neither(self, run, model, tmp_path, monkeypatch):
        from newron.rules.proof import Proof

        monkeypatch.setattr(
            "newron.rules.prove", lambda *_: Proof(None, "SAT", 9, 60.0, note="no time")
        )
        done = self.prove(run, tmp_path, "Always yes\n")
        assert done.exit_code == 3
        assert done.stdout == "  ! not proved  no time.\n"

    def test_text_that_is_no_rule(self, fails, model, tmp_path):
        (tmp_path / "r.txt").write_text("# a remark\nIf moon, then yes\nOtherwise no\n")
        assert fails("prove", model, "r.txt").startswith("r.txt: rules, line 2: ")
        (tmp_path / "r.txt").write_bytes(b"\xff\xfe\x00")
        assert "expected rules as text in UTF-8" in fails("prove", model, "r.txt")
        assert "nothing.txt" in fails("prove", model, "nothing.txt")
