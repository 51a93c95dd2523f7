from pathlib import Path

import pygit2
import pytest

from grite import lease
from grite.errors import Corrupt
from grite.lease import Lock
from tests.grite.commits import commit, said
from tests.grite.vectors import ACTOR, T0
from tests.world.cases import looped

LOCK = Lock(ACTOR, "5bd7a8c0-0000-4000-8000-000000000000", T0 + 300_000, "path:größe")


def test_a_lease_has_grites_ref_and_bytes(
    mirror: Path, repo: pygit2.Repository
) -> None:
    for resource, name in (
        ("repo:global", "4fa20104a646a633"),
        ("path:src/main.rs", "eda6df87daf5b23f"),
        ("issue:abc123", "877f08b680e1e50b"),
    ):
        assert lease.ref_of(resource) == f"refs/grite/locks/{name}"
    written = lease.write(repo, LOCK, parent=None, at_ms=T0)

    assert said(mirror, "show", f"{written}:lock.json") == (
        "{\n"
        '  "owner": "101112131415161718191a1b1c1d1e1f",\n'
        '  "nonce": "5bd7a8c0-0000-4000-8000-000000000000",\n'
        '  "expires_unix_ms": 1700000300000,\n'
        '  "resource": "path:größe"\n'
        "}"
    )
    assert said(mirror, "log", "--format=%an <%ae> %cn <%ce> %ct %B", written) == (
        "grite <grit@localhost> grite <grit@localhost> 1700000000 Lock: path:größe"
    )
    assert said(mirror, "ls-tree", "--name-only", written) == "lock.json"
    assert lease.read(repo, written) == LOCK
    assert lease.write(repo, LOCK, parent=None, at_ms=T0) == written
    new = lease.write(repo, LOCK, parent=written, at_ms=T0 - 5000)  # it is renewed
    assert said(mirror, "log", "--format=%H %ct", new) == (
        f"{new} {T0 // 1000}\n{written} {T0 // 1000}"
    )


SHORT = b'{"owner": "10", "nonce": "n", "expires_unix_ms": 1, "resource": "repo:bot"}'


@looped(
    *({"README.md": b"hello"}, {"lock.json/x": b"{}"}, {"lock.json": b"{"}),
    *({"lock.json": each} for each in (b"\xff", b"[]", b'{"owner": "10"}', SHORT)),
    {"lock.json": b"[" * 100_000},
)
def test_what_is_no_lease_is_corrupt(
    files: dict[str, bytes], mirror: Path, repo: pygit2.Repository
) -> None:
    with pytest.raises(Corrupt, match=r"lease|lock\.json"):
        lease.read(repo, commit(mirror, files))
    for nothing in ("1" * 40, "rubbish", said(mirror, "write-tree")):
        with pytest.raises(Corrupt, match=nothing):
            lease.read(repo, nothing)
    with pytest.raises(Corrupt, match="1111"):
        lease.write(repo, LOCK, parent="1" * 40, at_ms=T0)
