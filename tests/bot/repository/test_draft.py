"""What a draft keeps for good."""

from pathlib import Path

from bot.repository.draft import Draft
from convoy.model import ids
from tests.world.log_keys import open_mirror
from tests.world.remotes import by_file

ACTOR = bytes(16)
FIRST, SECOND = "1" * 40, "2" * 40
REF = ids.attempt_ref("fix-7", 1, 2)


def draft(folder: Path) -> Draft:
    address = by_file(folder)
    mirror = open_mirror(folder / "mirror.git", address.url, address.token)
    return Draft(mirror, ACTOR, 1_000)


def test_a_second_commit_of_an_attempt_stands_beside_the_first(tmp_path: Path) -> None:
    made = draft(tmp_path)
    made.keep("fix-7", 1, 2, FIRST)
    made.keep("fix-7", 1, 2, SECOND)
    made.keep("fix-7", 1, 2, FIRST)

    assert made.refs == {REF: FIRST, f"{REF}-{SECOND[:12]}": SECOND}
