"""Files are written whole or not at all."""

import os
from contextlib import suppress

import pytest

from builders.models import make_card
from builders.tables import make_table, write_csv
from newron.command.files import check_free, open_whole, stage_folder
from newron.errors import InputError


def test_a_file_appears_when_all_is_written(tmp_path):
    path = tmp_path / "f"
    with open_whole(path, force=False) as file:
        file.write(b"one")
        assert not path.exists()
    assert path.read_bytes() == b"one"
    assert [x.name for x in tmp_path.iterdir()] == ["f"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_file_that_failed_leaves_nothing(tmp_path, error):
    path = tmp_path / "f"
    path.write_bytes(b"before")
    with suppress(error), open_whole(path, force=True) as file:
        file.write(b"half")
        raise error
    assert path.read_bytes() == b"before"
    assert [x.name for x in tmp_path.iterdir()] == ["f"]


def test_who_was_faster_is_not_overwritten(tmp_path):
    path = tmp_path / "f"
    opened = open_whole(path, force=False)
    opened.__enter__().write(b"mine")
    path.write_bytes(b"theirs")
    with pytest.raises(InputError, match="exists"):
        opened.__exit__(None, None, None)
    assert path.read_bytes() == b"theirs"


def test_links_are_kept(tmp_path):
    target, link = tmp_path / "target", tmp_path / "link"
    target.write_bytes(b"a")
    link.symlink_to(target)
    with open_whole(link, force=True) as file:
        file.write(b"b")
    assert link.is_symlink()
    assert target.read_bytes() == b"b"


def test_modes_are_those_of_other_files(tmp_path):
    old = os.umask(0o027)
    try:
        with open_whole(tmp_path / "f", force=False) as file:
            file.write(b"")
        with stage_folder(tmp_path / "d", force=False) as stage:
            (stage / "g").write_bytes(b"")
    finally:
        os.umask(old)
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o750


def test_a_folder_appears_when_all_is_written(tmp_path):
    with stage_folder(tmp_path / "d", force=False) as stage:
        (stage / "a").write_text("1")
        assert not (tmp_path / "d").exists()
    assert [x.name for x in (tmp_path / "d").iterdir()] == ["a"]
    with stage_folder(tmp_path / "d", force=False) as stage:
        (stage / "b").write_text("2")
    assert {x.name for x in (tmp_path / "d").iterdir()} == {"a", "b"}
    assert [x.name for x in tmp_path.iterdir()] == ["d"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_a_folder_that_failed_leaves_nothing(tmp_path, error):
    with suppress(error), stage_folder(tmp_path / "d", force=False) as stage:
        (stage / "a").write_text("1")
        raise error
    assert list(tmp_path.iterdir()) == []


def test_names_that_cannot_be_written(tmp_path):
    with pytest.raises(InputError, match="got a folder"):
        check_free([tmp_path], force=True)
    with pytest.raises(InputError, match="got none; make it"):
        check_free([tmp_path / "no" / "f"], force=True)


def test_force_never_overwrites_the_input(fails, tmp_path):
    make_card().save(tmp_path / "model.json")
    write_csv(tmp_path / "table.csv", make_table())
    (tmp_path / "again.csv").symlink_to(tmp_path / "table.csv")
    for name in ("table.csv", "./table.csv", "again.csv"):
        message = fails("predict", "model.json", "table.csv", "-o", name, "--force")
        assert "expected another file than the input" in message
    before = (tmp_path / "model.json").read_bytes()
    for words in (
        ["predict", "model.json", "table.csv"],
        ["report", "model.json", "table.csv"],
        ["export", "model.json", "--to", "python"],
        ["rules", "model.json"],
    ):
        assert "expected another file" in fails(*words, "-o", "model.json", "--force")
    assert (tmp_path / "model.json").read_bytes() == before
