"""``newron demo``, and the problem that it shows."""

import json

import pytest
from typer.testing import CliRunner

import newron
from newron.command.application import app
from newron.demo import load_training_rows, make_monk2


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("demo") / "shown"


@pytest.fixture(scope="module")
def shown(folder):
    return CliRunner().invoke(app, ["demo", "-o", str(folder)])


def test_the_demo_solves_monk2_and_tells_the_rule_with_its_proof(shown):
    assert shown.exit_code == 0
    lines = [line.strip() for line in shown.stdout.splitlines()]
    assert "Right for all 432 possible inputs. 263 of them were never seen in training." in lines
    at = lines.index("class 1  if exactly 2 of")
    assert lines[at + 1] == "    ".join(f"a{i} = 1" for i in range(1, 7))
    assert lines[at + 2] == "class 0  otherwise"
    proved = "✓ proved   the rule equals the network for all 432 inputs, in class alone"
    assert proved in shown.stdout


def test_it_follows_a_robot_and_says_what_would_change_its_class(shown):
    lines = shown.stdout.splitlines()
    at = lines.index("  One row, step by step")
    assert lines[at + 2].count("●") == 2
    assert lines[at + 2].count("○") == 4
    assert lines[at + 3] == "    2 of 6 hold → class 1"
    assert lines[at + 4].startswith("    One change would make it class 0, for example a")


def test_what_it_writes_is_what_it_told(shown, folder):
    for name in ("rules.txt", "network.svg", "model.json", "robots.csv"):
        assert f"    {name}" in shown.stdout
        assert (folder / name).is_file()
    robots, classes = make_monk2()
    model = newron.load(folder / "model.json")
    assert (model.predict(robots) == classes).all()


def test_its_next_step_works(shown, folder):
    line = next(line for line in shown.stdout.splitlines() if "newron explain" in line)
    done = CliRunner().invoke(app, line.split()[1:])
    assert done.exit_code == 0
    assert "→ class 1" in done.stdout


def test_a_second_demo_does_not_overwrite_the_first_unless_asked_to(shown, folder):
    before = (folder / "model.json").read_bytes()
    again = CliRunner().invoke(app, ["demo", "-o", str(folder)])
    assert again.exit_code == 2
    assert "--force" in again.stderr
    done = CliRunner().invoke(app, ["demo", "-o", str(folder), "--force", "--json"])
    assert done.exit_code == 0
    assert json.loads(done.stdout)["proof"]["equal"] is True
    assert (folder / "model.json").read_bytes() == before


def test_the_training_rows_are_among_the_robots():
    rows, classes = load_training_rows()
    robots, right = make_monk2()
    wanted = {tuple(robot): int(c) for robot, c in zip(robots.tolist(), right, strict=True)}
    assert rows.shape == (169, 6)
    assert all(wanted[tuple(row)] == c for row, c in zip(rows.tolist(), classes, strict=True))
