"""The demo's project: the same commit each time, in a folder of its own."""

from pathlib import Path

import pytest

from brat.demo import Sample, write_sample
from grite import git


def said(sample: Sample, *args: str) -> str:
    return git.run(args, cwd=sample.path).stdout.decode().strip()


def test_writing_it_twice_gives_the_same_commit(tmp_path: Path) -> None:
    sample, again = write_sample(tmp_path / "project"), write_sample(tmp_path / "again")

    assert said(again, "rev-parse", "main") == said(sample, "rev-parse", "main")
    assert said(sample, "log", "--format=%an %at %ct") == (
        "brat demo 1767225600 1767225600"
    )
    assert said(sample, "status", "--porcelain", "--ignored") == ""


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()

    with pytest.raises(FileExistsError, match="choose an empty or new folder"):
        write_sample(tmp_path)

    assert [file.name for file in tmp_path.iterdir()] == ["thesis.tex"]
