"""Secrets in what is pushed: a few of the patterns that GitHub blocks pushes for.

https://docs.github.com/code-security/secret-scanning/introduction/supported-secret-scanning-patterns
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Final

import pygit2

from tests.world.github_forge.rules.pushed_commits import PushedObjects

MOST_SCANNED: Final = 10 << 20
"""Bytes of a file; a larger one is not looked into."""
_PATTERNS: Final = tuple(
    (name, re.compile(pattern))
    for name, pattern in (
        ("GitHub Personal Access Token", rb"\bghp_[A-Za-z0-9]{36}\b"),
        (
            "GitHub Personal Access Token",
            rb"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b",
        ),
        ("GitHub OAuth Access Token", rb"\bgho_[A-Za-z0-9]{36}\b"),
        ("GitHub App Installation Access Token", rb"\bghs_[A-Za-z0-9]{36}\b"),
        ("Amazon AWS Access Key ID", rb"\bAKIA[A-Z2-7]{16}\b"),
        ("Anthropic API Key", rb"\bsk-ant-api03-[A-Za-z0-9_-]{93}AA\b"),
        ("Slack API Token", rb"\bxoxb-[0-9]{10,13}-[0-9]{10,13}-[A-Za-z0-9]{24}\b"),
    )
)


@dataclass(frozen=True, slots=True)
class FoundSecret:
    """A secret in a commit: its kind and its place, never itself."""

    kind: str
    commit: str
    path: str
    line: int
    mark: str
    """Tells it from others, in the address where people would allow it."""


class SecretScan:
    """The secrets in the new files of one push; each file is read once."""

    def __init__(self, objects: PushedObjects) -> None:
        """Look into what came with a push."""
        self._objects = objects
        self._by_blob = {
            oid: found for oid in objects.blobs() if (found := self._look(oid))
        }

    def found_in(self, commits: Iterable[pygit2.Commit]) -> Iterator[FoundSecret]:
        """Yield the secrets that commits bring in."""
        if not self._by_blob:
            return
        for one in commits:
            for path, blob in self._objects.changes(one):
                for kind, line, mark in self._by_blob.get(blob, ()):
                    yield FoundSecret(kind, str(one.id), path, line, mark)

    def _look(self, oid: pygit2.Oid) -> tuple[tuple[str, int, str], ...]:
        odb = self._objects.git.odb
        if odb.read_header(oid)[1] > MOST_SCANNED:
            return ()
        _, data = odb.read(oid)
        return tuple(
            (
                name,
                data.count(b"\n", 0, match.start()) + 1,
                sha256(match[0]).hexdigest()[:27],
            )
            for name, pattern in _PATTERNS
            for match in pattern.finditer(data)
        )
