"""A patch that adds a secret is told by its file, never by the secret."""

import base64
import gzip
import random
from collections.abc import Mapping
from pathlib import Path

import pytest

from convoy.gate import leaks
from convoy.model.records import Gate
from convoy.text.redaction import NO_SECRETS, Redaction
from grite import git
from tests.bot.history import History

TOKEN = b"ghp_" + b"a1B2c3D4e5" * 4
VENDOR = b"sk-ant-api03-" + b"a1B2c3D4e5" * 4
MARK = b"RSA PRIVATE " + b"KEY-----\n"
KEY = b"-----BEGIN " + MARK + b"MIIEpAIBAAKCAQEA7\n" * 4 + b"-----END " + MARK


def said(
    folder: Path,
    before: Mapping[str, bytes],
    after: Mapping[str, bytes],
    gate: Gate | None = None,
    known: Redaction = NO_SECRETS,
) -> tuple[str, ...]:
    history = History(folder / "a.git")
    base = history.commit(before)
    tip = history.commit(after, base)
    args = ["diff-tree", "-r", "--no-renames", "--patch", "--text", base, tip]
    patch = git.run(args, cwd=history.path).stdout
    return leaks("It", patch, gate or Gate(), known)


@pytest.mark.parametrize("secret", [TOKEN, VENDOR, KEY, b"x = '" + TOKEN + b"'\r"])
def test_what_is_added_is_told_by_its_file(tmp_path: Path, secret: bytes) -> None:
    after = {"a.py": b"1\n", "d/b c.txt": b"one\n" + secret + b"\n"}

    found = said(tmp_path, {"a.py": b"1\n"}, after)

    assert found == ("It adds what looks like a secret: d/b c.txt.",)


def test_what_is_in_a_binary_file_is_found(tmp_path: Path) -> None:
    """In a large one git tells what was added alone."""
    told = "It adds what looks like a secret: {}."
    one = {"a.py": b"1\n"}
    after = {**one, "d/b c.bin": b"\0\1\2" * 50 + TOKEN + b"\0" * 50}
    assert said(tmp_path, one, after) == (told.format("d/b c.bin"),)

    noise = NOISE[:40_000]
    before = {"é": noise, "z.txt": b"1\n"}
    both = noise[:20_000] + b"\0" + TOKEN + b"\0" + noise[20_000:]
    after = {"é": both, "z.txt": b"2\n"}
    assert said(tmp_path, before, after) == (told.format("é"),)
    assert said(tmp_path, after, before) == ()

    before = {"a.txt": b"key " + TOKEN + b"\n", "c.txt": b"1\n"}
    after = {"b.txt": b"# the key\nkey: " + TOKEN + b"\n", "c.txt": b"2\n"}
    assert said(tmp_path, before, after) == (), "it was there"
    assert said(tmp_path, {"a.txt": TOKEN}, {"c.txt": b"2\n"}) == ()


NOISE = random.Random(7).randbytes(600_000)  # noqa: S311  the same each time
PIECES = b"\n".join(b"'%s'" % TOKEN[at : at + 10] for at in range(0, len(TOKEN), 10))
UNTOLD = {
    "a.gz": gzip.compress(TOKEN),
    "a.txt": base64.b64encode(TOKEN),
    "b.txt": TOKEN[::-1],
    "c.txt": TOKEN.decode().encode("utf-16"),
    "b.py": b"key = (" + PIECES + b")\n",
}
"""What no line tells: the limit, which docs/decisions/0036 writes down."""


@pytest.mark.parametrize(
    "after",
    [
        {"a.bin": NOISE[:300_000], "b.txt": base64.encodebytes(NOISE[300_000:])},
        UNTOLD,
        {
            "a.txt": b"-----BEGIN " + MARK,
            "b.txt": b".sk-cube-grid-animation-delay-of-the-third { }",
            "c.txt": b"password = 'hunter2hunter2'",
            "d.txt": b"token = os.environ['GITHUB_TOKEN']",
        },
    ],
)
def test_noise_and_what_only_names_a_secret_are_none(
    tmp_path: Path, after: dict[str, bytes]
) -> None:
    assert said(tmp_path, {}, after) == ()


def test_files_of_the_gates_choice_may_hold_some_and_any_other_is_told(
    tmp_path: Path,
) -> None:
    after = {"tests/fixtures/a": TOKEN, "src/a": TOKEN}
    assert said(tmp_path, {}, after, Gate(secrets=("tests/fixtures/**",))) == (
        "It adds what looks like a secret: src/a.",
    )
    assert said(tmp_path, {}, after, Gate(secrets=("*",))) == ()
    told = 'It adds what looks like a secret: odd\\u0009"name"\\é.txt.'
    assert said(tmp_path, {}, {'odd\t"name"\\é.txt': TOKEN}) == (told,)

    known = Redaction(["correct horse battery"])  # it needs no shape
    assert said(tmp_path, {}, {"a": b"the correct horse battery"}, known=known) == (
        "It adds what looks like a secret: a.",
    )
