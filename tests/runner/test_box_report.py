"""What a box reports of itself, and which of its walls are missed."""

import msgspec
import pytest

from convoy.model.session_result import WALL_NAMES, Walls, missing_walls
from runner.box.agent_box import read_report


def test_a_report_names_the_walls_that_stand() -> None:
    said = read_report("files=namespaces user=uid syscalls=seccomp")

    assert said.why == ""
    assert said.walls == Walls(files="namespaces", user="uid", syscalls="seccomp")
    assert missing_walls(said.walls, closed=True) == ("processes", "network")
    assert missing_walls(said.walls, closed=False) == ("processes",)


@pytest.mark.parametrize(
    ("text", "why"),
    [("!no namespaces: Denied", "no namespaces: Denied"), ("", "it ended before")],
)
def test_where_there_is_no_box_no_wall_stands(text: str, why: str) -> None:
    said = read_report(text)

    assert said.why.startswith(why)
    assert missing_walls(said.walls, closed=True) == WALL_NAMES


def test_a_wall_that_there_is_not_is_refused() -> None:
    with pytest.raises(msgspec.ValidationError):
        read_report("files=paper")
