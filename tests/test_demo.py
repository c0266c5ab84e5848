"""``python -m newron demo``."""

import pytest

from newron.__main__ import main
from newron.demo import load_training_rows, make_monk2


def test_the_demo_solves_monk2_and_tells_the_rule_with_its_proof(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "Right for 432 of 432 possible inputs" in out
    lines = [line.strip() for line in out.splitlines()]
    at = lines.index("If exactly 2 of")
    assert lines[at + 1 : at + 7] == [f"a{i} = 1" for i in range(1, 7)]
    assert lines[at + 7].startswith("then class 1")
    assert "Proved equal to the network. All 432 inputs of the stated domain checked" in out
    assert "2 of 6 hold" in out
    assert "One change would make it class 0" in out


def test_the_training_rows_are_among_the_robots():
    rows, classes = load_training_rows()
    robots, right = make_monk2()
    wanted = {tuple(robot): int(c) for robot, c in zip(robots.tolist(), right, strict=True)}
    assert rows.shape == (169, 6)
    assert all(wanted[tuple(row)] == c for row, c in zip(rows.tolist(), classes, strict=True))


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
