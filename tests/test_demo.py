"""``python -m newron demo``."""

import pytest

from newron.__main__ import main


def test_the_demo_solves_monk2_and_tells_the_network(capsys):
    assert main(["demo"]) == 0
    out = capsys.readouterr().out
    assert "Right for 432 of 432 inputs" in out
    assert all(f"[a{i} " in out for i in range(1, 7))


def test_an_unknown_command_is_refused(capsys):
    with pytest.raises(SystemExit) as stopped:
        main(["nonsense"])
    assert stopped.value.code == 2
    assert "invalid choice" in capsys.readouterr().err
