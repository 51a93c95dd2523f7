"""What `brat doctor` says of the machine."""

from pathlib import Path

from brat.doctor.machine_checks import LEAST, checks, room


def test_a_disk_that_is_nearly_full_is_a_fault_and_says_which(tmp_path: Path) -> None:
    full, enough = room(LEAST - 1, tmp_path), room(LEAST, tmp_path)

    assert full.grade == "fault"
    assert full.said.startswith("only 1.0 GB")
    assert str(tmp_path) in full.mend
    assert enough.grade == "ok"


def test_this_machine_has_room_and_no_bot_that_ended(tmp_path: Path) -> None:
    (found,) = checks(tmp_path)

    assert "GB are free where sessions work" in found.said
