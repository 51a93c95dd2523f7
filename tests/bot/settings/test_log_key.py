"""The log's key: made once, kept from others, and read as OpenSSH writes it."""

import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot.settings import bot_folder
from grite.errors import BratError
from grite.signatures import BOT_SIGNERS_FILE, parse_signers, signer_of, with_signature

PAYLOAD = b"tree 4b825dc642cb6eb9a060e54bf8d69288fbee4904\n\nWAL: 1"


def test_a_key_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    folder = tmp_path / "bot"

    first, again = bot_folder.log_key_in(folder), bot_folder.log_key_in(folder)

    assert first.public == again.public
    assert stat.S_IMODE((folder / bot_folder.LOG_KEY_FILE).stat().st_mode) == 0o600
    allowed = parse_signers((folder / BOT_SIGNERS_FILE).read_text())
    assert allowed.allows(first.public, 0)
    assert "PRIVATE" not in repr(first)


def test_processes_that_begin_at_once_agree_on_one_key(tmp_path: Path) -> None:
    with ThreadPoolExecutor(8) as pool:
        made = {key.public for key in pool.map(bot_folder.log_key_in, [tmp_path] * 16)}

    assert len(made) == 1


def test_a_key_that_openssh_made_signs(tmp_path: Path) -> None:
    file = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", file], check=True
    )

    key = bot_folder.parse_log_key(file.read_bytes().strip(), "BRAT_LOG_KEY")

    assert key.line.split()[2:4] == file.with_suffix(".pub").read_text().split()[:2]
    assert signer_of(with_signature(PAYLOAD, key.sign(PAYLOAD))) == key.public


@pytest.mark.parametrize("kind", [["-t", "rsa", "-b", "2048"], ["-t", "ecdsa"]])
def test_another_kind_of_key_is_refused(tmp_path: Path, kind: list[str]) -> None:
    file = tmp_path / "key"
    subprocess.run(["ssh-keygen", "-q", *kind, "-N", "", "-f", file], check=True)
    with pytest.raises(BratError, match=r"not an Ed25519 .* ssh-keygen -t ed25519"):
        bot_folder.read_log_key(file)


def test_a_key_with_a_passphrase_or_no_key_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "key"
    subprocess.run(
        ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", file], check=True
    )
    with pytest.raises(BratError, match="without a passphrase"):
        bot_folder.read_log_key(file)
    with pytest.raises(BratError, match="BRAT_LOG_KEY is not an Ed25519"):
        bot_folder.parse_log_key(b"", "BRAT_LOG_KEY")
    with pytest.raises(BratError, match="cannot be read"):
        bot_folder.read_log_key(tmp_path / "none")
