"""Keys that the default branch names count once its rules are known to guard it."""

from pathlib import Path

import pytest

from grite.errors import Unsigned
from grite.signatures import SIGNERS_FILE, signer_line
from tests.bot.history import History
from tests.bot.logs import Open, paused, story, write
from tests.world.log_keys import LOG_KEY, OTHER_KEY

THEIRS = signer_line(OTHER_KEY.public, "another bot").encode()
OURS = signer_line(LOG_KEY.public, "this bot").encode()


def name(origin: History, *lines: bytes) -> None:
    files = {SIGNERS_FILE: b"".join(lines)} if lines else {"README.md": b"# app\n"}
    origin.point("refs/heads/main", origin.commit(files))


@pytest.fixture
def written(tmp_path: Path, origin: History) -> History:
    """Give a remote whose log another bot wrote."""
    other = OTHER_KEY.opening()(tmp_path / "other.git", origin.path.as_uri(), None)
    other.look()
    write(other, *story())
    return origin


@pytest.mark.parametrize("believes", [None, False])
def test_a_branch_that_nobody_vouches_for_allows_nobody(
    written: History, opened: Open, *, believes: bool | None
) -> None:
    name(written, OURS, THEIRS)
    mirror = opened("mirror")
    mirror.believes_branch = believes

    with pytest.raises(Unsigned):
        mirror.look()


def test_a_guarded_branch_allows_the_keys_that_it_names(
    written: History, opened: Open
) -> None:
    name(written, OURS, THEIRS)
    mirror = opened("mirror")
    mirror.believes_branch = True
    mirror.look()

    assert mirror.state.convoys


def test_a_stolen_key_counts_no_more_once_it_is_removed(
    written: History, opened: Open, tmp_path: Path
) -> None:
    name(written, OURS, THEIRS)
    mirror = opened("mirror")
    mirror.believes_branch = True
    mirror.look()
    write(mirror, *paused(mirror))  # the bot's own key vouches for all below
    thief = OTHER_KEY.opening()(tmp_path / "thief.git", written.path.as_uri(), None)
    thief.believes_branch = True
    thief.look()
    before = mirror.state

    name(written, OURS)
    write(thief, *paused(thief, by="mallory"))
    mirror.look()

    assert mirror.state == before
    assert mirror.foreign


def test_a_file_that_cannot_be_read_is_said_once_and_allows_nobody(
    written: History, opened: Open
) -> None:
    name(written, b"brat ssh-rsa AAAA\n")
    mirror = opened("mirror")
    mirror.believes_branch = True

    for _ in range(2):
        with pytest.raises(Unsigned):
            mirror.look()
    (said,) = mirror.notices
    assert said.startswith(f"{SIGNERS_FILE} is ignored: line 1 ")
