"""The application: its help, its errors, what it costs to start."""

import json
import os
import shlex
import subprocess
import sys
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
import typer

import newron
from builders.models import make_card
from builders.tables import make_table, write_csv
from newron.command.application import app, main
from newron.model import Model, Schema

ROOT = Path(__file__).parents[2]
GROUP = typer.main.get_command(app)
COMMANDS = (
    "demo", "fit", "evaluate", "predict", "compare", "rules", "explain", "plot", "report", "search",
    "export", "prove", "inspect", "datasets",
)  # fmt: skip


class TestHelp:
    def test_all_commands_are_there(self, run):
        assert tuple(GROUP.commands) == COMMANDS
        done = run("--help")
        assert done.exit_code == 0
        assert all(f"\n  {name}" in done.stdout for name in COMMANDS)
        assert run().stdout == done.stdout

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_command_has_help_with_examples(self, run, name):
        done = run(name, "--help")
        assert done.exit_code == 0
        assert f"\n    newron {name}" in done.stdout.split("Examples:")[1]
        for option in ("--quiet", "--json", "--debug"):
            assert option in done.stdout

    @pytest.mark.parametrize("name", COMMANDS)
    def test_every_example_can_be_parsed(self, name):
        command = GROUP.commands[name]
        for line in command.epilog.splitlines()[2:]:
            example = line.strip().partition("  ")[0]
            words = shlex.split(example.split(" > ")[0].split(" && ")[0])
            assert words[:2] == ["newron", name]
            command.make_context(name, words[2:])

    def test_every_option_says_what_it_does(self):
        for command in GROUP.commands.values():
            assert command.help
            assert all(param.help for param in command.params if param.name != "help")

    def test_the_version(self, run):
        assert run("--version").stdout == f"newron {newron.__version__}\n"

    def test_help_is_there_before_anything_heavy(self):
        # Stands for the time: what is imported does not depend on the machine.
        code = (
            "import sys\nfrom newron.command.application import main\n"
            "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
            "print(' '.join(sys.modules), file=sys.stderr)"
        )
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        )
        loaded = set(done.stderr.split())
        heavy = {"numpy", "sklearn", "scipy", "pandas", "polars", "pyarrow", "rich", "pydantic"}
        assert not loaded & heavy

    def test_the_entry_point_is_the_application(self):
        project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
        assert project["scripts"] == {"newron": "newron.command.application:main"}
        assert callable(main)

    def test_shells_can_complete(self):
        env = os.environ | {
            "_NEWRON_COMPLETE": "complete_bash",
            "COMP_WORDS": "newron pr",
            "COMP_CWORD": "1",
        }
        done = subprocess.run(
            [sys.executable, "-m", "newron"], capture_output=True, text=True, env=env
        )
        assert done.stdout.split() == ["predict", "prove"]


class TestErrors:
    def test_what_the_parser_rejects_is_one_line(self, fails):
        assert "No such command 'nonsense'" in fails("nonsense")
        assert "No such option" in fails("rules", "model.json", "--nonsense")
        assert "Missing argument 'MODEL'" in fails("rules")
        assert "--row" in fails("explain", "m.json", "t.csv", "--row", "0")

    def test_errors_of_newron_are_one_line(self, fails, tmp_path):
        (tmp_path / "m.json").write_text('{"format":\n "other"}')
        assert (
            fails("rules", "m.json") == "m.json: expected a file whose \"format\" is 'newron model'"
        )

    def test_debug_shows_where(self, run):
        done = run("rules", "nothing.json", "--debug")
        assert done.exit_code == 2
        assert "Traceback" in done.stderr
        assert done.stderr.endswith("newron: nothing.json: No such file or directory\n")

    def test_what_nobody_expected_is_one_line_too(self, fails, run, tmp_path, monkeypatch):
        make_card().save(tmp_path / "m.json")

        def fail(*_, **__):
            raise KeyError("lost\nfor ever")

        monkeypatch.setattr("newron.model.model.Model.rules", fail)
        assert fails("rules", "m.json") == (
            "unexpected KeyError: 'lost\\nfor ever'; add --debug to see where, and please report it"
        )
        assert "Traceback" in run("rules", "m.json", "--debug").stderr

    def test_ctrl_c_is_printed_and_has_its_exit_code(self, run, tmp_path, monkeypatch):
        make_card().save(tmp_path / "m.json")

        def interrupt(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("newron.model.model.Model.rules", interrupt)
        done = run("rules", "m.json", "-o", "rules.txt")
        assert done.exit_code == 130
        assert "Traceback" not in done.output
        assert not (tmp_path / "rules.txt").exists()

    def test_warnings_of_newron_are_a_line_of_standard_error(self, run, tmp_path, monkeypatch):
        import warnings

        make_card().save(tmp_path / "m.json")

        def warn(_):
            warnings.warn("mind the\nstep", newron.NewronWarning, stacklevel=1)
            warnings.warn("not for users", FutureWarning, stacklevel=1)
            return True

        monkeypatch.setattr("newron.model.model.Model.is_crisp", property(warn))
        done = run("rules", "m.json")
        assert done.exit_code == 0
        assert done.stderr == "! note  mind the step\n"

    def test_training_that_was_interrupted_writes_nothing(self, run, tmp_path, monkeypatch):
        import warnings

        write_csv(tmp_path / "t.csv", make_table())

        def fit(self, X, y):
            warnings.warn("training was interrupted", newron.InterruptedWarning, stacklevel=1)

        monkeypatch.setattr("newron.NewronClassifier.fit", fit)
        done = run("fit", "t.csv", "-t", "sick")
        assert done.exit_code == 130
        assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


class TestSigns:
    def test_without_utf8_all_signs_are_ascii(self, run, tmp_path):
        make_card().save(tmp_path / "m.json")
        done = run("rules", "m.json", charset="ascii")
        assert "age >= 50" in done.stdout
        (tmp_path / "r.txt").write_text(done.stdout)
        done = run("prove", "m.json", "r.txt", charset="ascii")
        assert done.stdout.startswith("  ok proved  the rules equal the network")

    def test_json_is_ascii_then(self, run, tmp_path):
        card = make_card()
        columns = (replace(card.schema.columns[0], name="größe"), card.schema.columns[1])
        Model(Schema(columns), card.layers, card.output).save(tmp_path / "m.json")
        done = run("inspect", "m.json", "--json", charset="ascii")
        assert done.stdout.isascii()
        assert json.loads(done.stdout)["inputs"][0]["name"] == "größe"
        assert "gr??e" in run("inspect", "m.json", charset="ascii").stdout
