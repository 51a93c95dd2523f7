"""Signed commits: OpenSSH and git agree with what is written and read here."""

import re
from inspect import getsource
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from hypothesis import given, strategies as st

from grite import git
from grite.signatures import (
    CHECKPOINT,
    ENTRY,
    LOCK,
    Authority,
    armored,
    fingerprint,
    foreign_in,
    foreign_lines,
    is_signed,
    only_signer,
    open_signer,
    parse_signers,
    signed_message,
    signed_text,
    signer_line,
    signer_of,
    with_signature,
)
from tests.grite.commits import said
from tests.world.cases import looped

ROOT = Path(__file__).resolve().parents[2]
KEY = Ed25519PrivateKey.from_private_bytes(b"k" * 32)
PUBLIC = KEY.public_key().public_bytes_raw()
OTHER = Ed25519PrivateKey.from_private_bytes(b"o" * 32)
TREE = b"4b825dc642cb6eb9a060e54bf8d69288fbee4904"
WHO = b"grite <grit@local> 1700000000 +0000"


def payload(text: str) -> bytes:
    head = b"tree " + TREE + b"\nauthor " + WHO + b"\ncommitter " + WHO
    return head + b"\n\n" + text.encode()


def signed(text: str, key: Ed25519PrivateKey = KEY) -> bytes:
    unsigned, public = payload(text), key.public_key().public_bytes_raw()
    return with_signature(unsigned, armored(public, key.sign(signed_text(unsigned))))


def test_git_verifies_what_is_signed_here(mirror: Path, tmp_path: Path) -> None:
    write = ("hash-object", "-w", "--stdin", "-t")
    said(mirror, *write, "tree", stdin=b"")
    commit = said(mirror, *write, "commit", stdin=signed("WAL: 1"))
    allowed = tmp_path / "allowed_signers"
    allowed.write_text(signer_line(PUBLIC, "the log's key"))
    options = ("-c", f"gpg.ssh.allowedSignersFile={allowed}")

    done = git.run([*options, "verify-commit", commit], cwd=mirror)

    assert 'Good "git" signature for brat with ED25519 key' in done.stderr
    assert fingerprint(PUBLIC) in done.stderr


@given(st.text())
def test_each_text_has_one_signed_form(text: str) -> None:
    commit = signed(text.replace("\r", ""))

    assert is_signed(commit)
    assert signer_of(commit) == PUBLIC
    assert signer_of(payload(text)) is None


@given(at=st.integers(min_value=0), bit=st.integers(0, 7))
def test_one_changed_bit_anywhere_breaks_it(at: int, bit: int) -> None:
    commit = bytearray(signed("WAL: 1 events\n\nRepository-Id: 7"))
    commit[at % len(commit)] ^= 1 << bit

    assert signer_of(bytes(commit)) is None


GOOD = signed("WAL: 1")


@looped(
    GOOD.replace(b"=\n -----END", b"==\n -----END"),
    GOOD.replace(b"-----END SSH SIGNATURE-----", b"-----END SSH SIGNATURE-----\n "),
    GOOD.replace(b"\n ", b"\n  ", 1),
    GOOD.replace(b"\n ", b"", 1),
    GOOD.replace(b"\ngpgsig ", b"\ngpgsig  "),
    GOOD.replace(b"\ngpgsig ", b"\ngpgsig-sha256 "),
    GOOD.replace(b"-----\n\nWAL", b"-----\nencoding latin1\n\nWAL"),
    GOOD.replace(b"\ngpgsig ", b"\nencoding latin1\ngpgsig "),
    GOOD.replace(b"\n\nWAL: 1", b"\n\nWAL: 1\n"),
)
def test_another_form_of_a_good_signature_is_none(commit: bytes) -> None:
    assert commit != GOOD
    assert signer_of(commit) is None


HERE = Authority("7", only_signer(PUBLIC))


def test_a_commit_counts_if_an_allowed_key_signed_it_for_this_repository() -> None:
    texts = {ENTRY: "WAL: 1", CHECKPOINT: "Checkpoint at 1", LOCK: "Lock: repo:bot"}
    for kind, text in texts.items():  # each kind passes for itself alone
        commit = signed(signed_message(text, "7"))
        assert [k for k in texts if not HERE.fault(commit, k)] == [kind]
    anywhere = Authority("", only_signer(PUBLIC))
    assert anywhere.fault(signed(signed_message("WAL: 1", "8")), ENTRY) == ""
    assert "another repository" in anywhere.fault(signed("WAL: 1"), ENTRY)


@looped(
    (payload(signed_message("WAL: 1", "7")), "not signed"),
    (signed(signed_message("WAL: 1", "7"), OTHER), "not allowed: SHA256:"),
    (signed(signed_message("WAL: 1", "77")), "another repository, not 7"),
    (signed(signed_message("WAL: 1", "8")), "another repository, not 7"),
    (signed("WAL: 1"), "another repository, not 7"),
    (signed("WAL: 1\n\nForeign: x\nRepository-Id: 7"), "another repository"),
    (signed(signed_message("Checkpoint at 1", "7")), "begin with WAL"),
    (signed(signed_message("Lock: repo:bot", "7")), "begin with WAL"),
    (signed(signed_message("WAL: 1", "7")).replace(b"WAL: 1", b"WAL: 2"), "not valid"),
)
def test_any_other_commit_does_not_count(commit: bytes, why: str) -> None:
    assert why in HERE.fault(commit, ENTRY)


def test_listed_commits_are_read_back_and_no_second_line_is_signed() -> None:
    for foreign in ((), ("a" * 40, "b" * 64)):
        told = signed_message("WAL: 1", "7", foreign_lines(foreign))
        assert foreign_in(signed(told)) == foreign
    with pytest.raises(ValueError, match="cannot be signed"):
        signed_message("Lock: a\n\nRepository-Id: 8", "7")


def test_a_file_in_the_forms_that_openssh_takes_and_a_key_within_its_time() -> None:
    key = signer_line(PUBLIC, "").split()[3]
    rows = (
        f"brat ssh-ed25519 {key}",
        f'"a b,c" namespaces="file,git" ssh-ed25519 {key} some words',
        f"*@example.org\tssh-ed25519\t{key}",
        f'x valid-after="20200101",valid-before="209901012359" ssh-ed25519 {key}',
    )
    for row in rows:
        assert parse_signers(f"# keys\n\n{row}\n").allows(PUBLIC, 1_700_000_000), row
    assert not parse_signers(f'x namespaces="file" ssh-ed25519 {key}').allows(PUBLIC, 0)

    for bound, beyond in (("before", 1), ("after", -1)):
        timed = f'x valid-{bound}="20231114221320Z" ssh-ed25519 {key}'
        assert parse_signers(timed).allows(PUBLIC, 1_700_000_000)
        assert not parse_signers(timed).allows(PUBLIC, 1_700_000_000 + beyond)


@looped(
    ("brat", "PRINCIPAL"),
    ("brat ssh-ed25519", "PRINCIPAL"),
    ("brat ssh-ed25519 AAAA", "is not a valid key"),
    ("brat ssh-rsa AAAAB3NzaC1yc2E=", "not ssh-rsa"),
    ("brat cert-authority ssh-ed25519 {key}", "cert-authority"),
    ('brat made-up="1" ssh-ed25519 {key}', "made-up"),
    ('brat valid-before="soon" ssh-ed25519 {key}', "not a time"),
    ('brat valid-before="20271340Z" ssh-ed25519 {key}', "not a time"),
)
def test_a_line_that_cannot_be_enforced_is_refused(row: str, why: str) -> None:
    key = signer_line(PUBLIC, "").split()[3]
    with pytest.raises(Exception, match=why) as refused:
        parse_signers(f"# one\n{row.format(key=key)}\n")
    assert str(refused.value).startswith("line 2 of the allowed signers:")


def test_no_private_key_is_handled_below_the_bot() -> None:
    """Runner, rules and log know public keys alone: who signs hands in a function.

    The key that follows from a repository's id is no secret.
    """
    no_secret = getsource(open_signer)
    handled = re.compile(r"Ed25519PrivateKey|load_\w+_private_key")
    files = (
        file
        for package in ("grite", "convoy", "runner")
        for file in (ROOT / package).rglob("*.py")
    )

    found = [f for f in files if handled.search(f.read_text().replace(no_secret, ""))]

    assert found == []
