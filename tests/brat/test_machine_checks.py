"""What `brat doctor` says of the machine."""

from pathlib import Path

from brat.doctor.checkup import LEAST, checked_machine, room, tools


def test_a_disk_that_is_nearly_full_is_a_fault_and_says_which(tmp_path: Path) -> None:
    full, enough = room(LEAST - 1, tmp_path), room(LEAST, tmp_path)

    assert full.grade == "fault"
    assert full.said.startswith("only 1.0 GB")
    assert str(tmp_path) in full.mend
    assert enough.grade == "ok"


def test_this_machine_has_room_and_no_bot_that_ended(tmp_path: Path) -> None:
    has_room, has_tools = checked_machine(tmp_path)

    assert "GB are free where sessions run" in has_room.said
    assert "agents and CI have PATH" in has_tools.said


def test_what_agents_and_ci_have_of_a_terminal_is_named_and_what_is_hidden(
    tmp_path: Path,
) -> None:
    (tmp_path / ".npmrc").touch()

    found = tools({"JAVA_HOME": "/opt/java"}, tmp_path)

    assert found.grade == "ok"
    assert "have PATH, JAVA_HOME, but not ~/.npmrc" in found.said
