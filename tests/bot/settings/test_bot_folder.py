"""Who had a bot's folder before, and is dead."""

import signal
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.settings import bot_folder
from bot.settings.bot_folder import (
    PROCESSES_FILE,
    SignersFrom,
    held_folder,
    source_in_force,
)
from convoy.model.work import TargetRules
from grite.errors import BratError
from grite.signatures import BOT_SIGNERS_FILE, parse_signers, signer_of, with_signature
from tests.bot.there import there
from tests.world.cases import looped

HOLD = """
import sys
from pathlib import Path
from bot.settings.bot_folder import held_folder
with held_folder(Path(sys.argv[1]), "theirs") as dead:
    print(sorted(dead), flush=True)
    sys.stdin.read()
"""


def test_a_killed_process_is_known_to_be_dead_and_no_live_one(tmp_path: Path) -> None:
    args, pipe = [sys.executable, "-c", HOLD, str(tmp_path)], subprocess.PIPE
    with subprocess.Popen(args, stdin=pipe, stdout=pipe) as holder:
        assert there(holder.stdout).readline() == b"[]\n"
        with held_folder(tmp_path, "ours") as while_it_lives:
            assert not while_it_lives
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    with held_folder(tmp_path, "ours") as after:
        assert after == {"theirs"}


def test_a_file_of_another_start_of_the_system_or_cut_off_says_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, boot = tmp_path / PROCESSES_FILE, tmp_path / "boot_id"
    with held_folder(tmp_path, "one"):
        whole = file.read_text()
    boot.write_text("another")
    monkeypatch.setattr(bot_folder, "_BOOT", boot)

    for text in (whole, "", "\n\n", "x\ny"):
        file.write_text(text)
        with held_folder(tmp_path, "two") as dead:
            assert not dead, text


# --- the log's key: made once, kept from others, and read as OpenSSH writes it --------

PAYLOAD = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nWAL: 1"


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    """Of many processes that begin at once, too, as threads stand for here."""
    folder = tmp_path / "bot"

    with ThreadPoolExecutor(8) as pool:
        first, *others = pool.map(bot_folder.log_key_in, [folder] * 16)

    assert {key.public for key in others} == {first.public}
    assert stat.S_IMODE((folder / bot_folder.LOG_KEY_FILE).stat().st_mode) == 0o600
    allowed = parse_signers((folder / BOT_SIGNERS_FILE).read_text())
    assert allowed.allows(first.public, 0)
    assert "PRIVATE" not in repr(first)


def keyed(folder: Path, *kind: str, passphrase: str = "") -> Path:
    """Let OpenSSH make a key of this kind."""
    file = folder / "key"
    args = ["ssh-keygen", "-q", "-t", *kind, "-N", passphrase, "-f", str(file)]
    subprocess.run(args, check=True)
    return file


def test_a_key_that_openssh_made_signs(tmp_path: Path) -> None:
    file = keyed(tmp_path, "ed25519")
    key = bot_folder.parse_log_key(file.read_bytes().strip(), "BRAT_LOG_KEY")

    assert key.line.split()[2:4] == file.with_suffix(".pub").read_text().split()[:2]
    assert signer_of(with_signature(PAYLOAD, key.sign(PAYLOAD))) == key.public


@pytest.mark.parametrize(
    ("kind", "passphrase", "why"),
    [
        (["rsa", "-b", "2048"], "", "not an Ed25519 .* ssh-keygen -t ed25519"),
        (["ecdsa"], "", "not an Ed25519 .* ssh-keygen -t ed25519"),
        (["ed25519"], "secret", "without a passphrase"),
    ],
)
def test_another_kind_of_key_or_none_is_refused(
    tmp_path: Path, kind: list[str], passphrase: str, why: str
) -> None:
    with pytest.raises(BratError, match=why):
        bot_folder.read_log_key(keyed(tmp_path, *kind, passphrase=passphrase))
    with pytest.raises(BratError, match="BRAT_LOG_KEY is not an Ed25519"):
        bot_folder.parse_log_key(b"", "BRAT_LOG_KEY")
    with pytest.raises(BratError, match="cannot read the log"):
        bot_folder.read_log_key(tmp_path / "none")


# --- which source of allowed signers counts, by the default branch's rules ------------

OPEN = TargetRules()
REVIEWED = TargetRules(pull_request=True, reviews=1)


@looped(
    ("", False, REVIEWED, "own key"),
    ("", True, REVIEWED, "file"),
    ("", True, TargetRules(frozen=True), "file"),
    ("", True, OPEN, "own key"),
    # A token of CI could open such a pull request, and merge it.
    ("", True, TargetRules(pull_request=True), "own key"),
    ("", True, TargetRules(unknown=("the protection of main",)), "own key"),
    ("a key", True, REVIEWED, "settings"),
    ("a key", False, OPEN, "settings"),
    (" \n", True, REVIEWED, "file"),
)
def test_a_file_counts_only_where_nobody_can_change_it_alone(
    pinned: str, *, has_file: bool, rules: TargetRules, source: SignersFrom
) -> None:
    found, why = source_in_force(pinned, has_file=has_file, rules=rules)

    assert found == source
    assert why
