"""Looks and pushes to a git server of this machine, without git's own client.

git's client starts two processes to look and five to push; here none is started. The
answers have the form of git's, so that one place judges both.
https://git-scm.com/docs/gitprotocol-http, https://git-scm.com/docs/gitprotocol-pack
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import Final
from urllib.parse import urlsplit

import pygit2
from pygit2.enums import FileMode

from grite import git, outbound
from grite.errors import Unavailable
from grite.objects import UNREADABLE
from grite.remote import RefUpdate, Remote

_LOOK, _PUSH = "git-upload-pack", "git-receive-pack"
_FLUSH: Final = b"0000"
_BETWEEN: Final = b"0001"
_NONE: Final = "0" * 40
_ABLE: Final = "report-status side-band-64k"
_REPORT, _SAID, _FATAL = 1, 2, 3
"""The bands of an answer; the last two are for people."""
_PACK: Final = (
    "pack-objects",
    "--stdout",
    "--revs",
    "--thin",
    "--delta-base-offset",
    "-q",
)
_MOST_OBJECTS: Final = 1000
_MOST_BYTES: Final = 4 << 20
"""More than this git packs itself."""
_VERSION: Final = {"Git-Protocol": "version=2"}


class NearRemote(Remote, frozen=True):
    """A remote whose server is on this machine."""

    def _look(self, patterns: Sequence[str]) -> git.Completed:
        """Return HEAD and the refs that may match, as `git ls-remote --symref` does.

        https://git-scm.com/docs/protocol-v2#_ls_refs
        """
        before = (re.split(r"[*?\[]", each, maxsplit=1)[0] for each in patterns)
        asked = ["symrefs", *(f"ref-prefix {each}" for each in ("HEAD", *before))]
        order = (
            packet_of("command=ls-refs") + _BETWEEN + b"".join(map(packet_of, asked))
        )
        told = ""
        with self._answers("ls-remote"):
            status, body = self._asked("POST", _LOOK, order + _FLUSH, _VERSION)
            if status != HTTPStatus.OK:
                return self._ended(("ls-remote",), self._denied(status, body))
            for packet in packets(body):
                value, name, *more = _text(packet).split()
                leads = next((e for e in more if e.startswith("symref-target:")), "")
                if leads:
                    told += f"ref: {leads.partition(':')[2]}\t{name}\n"
                told += f"{value}\t{name}\n"
        return git.Completed(0, told.encode(), "")

    def _send(self, updates: Sequence[RefUpdate], *, atomic: bool) -> None:
        values = (value or _NONE for one in updates for value in (one.old, one.new))
        is_long = any(len(each) != len(_NONE) for each in values)
        if is_long or (self.mirror / "shallow").exists():
            super()._send(updates, atomic=atomic)
            return
        with self._answers("push"):
            done = self._pushed(updates, atomic=atomic)
        self._ended(("push",), done, [one.ref for one in updates])

    def _pushed(self, updates: Sequence[RefUpdate], *, atomic: bool) -> git.Completed:
        """Move refs, and return what `git push --porcelain` would have said."""
        status, listed = self._asked("GET", f"info/refs?service={_PUSH}")
        if status != HTTPStatus.OK:
            return self._denied(status, listed)
        rows = (_text(each).partition("\0")[0].split() for each in packets(listed))
        seen = {name: at for at, name in rows if len(at) == len(_NONE)}
        stale = {one.ref for one in updates if seen.get(one.ref) != one.old}
        found = dict.fromkeys(stale, "[rejected] (stale info)")
        sent = [one for one in updates if one.ref not in stale and one.new != one.old]
        said = ""
        if sent and not (atomic and stale):
            able = f"{_ABLE} atomic" if atomic else _ABLE
            order = self._order(sent, able, {*seen.values()} - {_NONE})
            status, body = self._asked("POST", _PUSH, order)
            if status != HTTPStatus.OK:
                return self._denied(status, body)
            report, said = _answered(body)
            for one in sent:
                if why := report.get(one.ref, "remote failed to report status"):
                    found[one.ref] = f"[remote rejected] ({why})"
        lines = "".join(f"!\t:{ref}\t{why}\n" for ref, why in found.items())
        return git.Completed(1 if found else 0, lines.encode(), said)

    @contextmanager
    def _answers(self, what: str) -> Iterator[None]:
        """Raise `Unavailable` where no whole answer comes in time."""
        try:
            yield
        except TimeoutError as error:
            said = f"git {what} took longer than {self.deadline_s:g} s"
            raise Unavailable(said) from error
        except (OSError, HTTPException, ValueError) as error:
            said = f"{git.redacted(self.url)} did not answer: {error}"
            raise Unavailable(said) from error

    def _order(self, sent: Sequence[RefUpdate], able: str, theirs: set[str]) -> bytes:
        """Return the commands, and a pack of what the server does not have."""
        lines = [f"{u.old or _NONE} {u.new or _NONE} {u.ref}" for u in sent]
        lines[0] += f"\0{able}"
        order = b"".join(map(packet_of, lines)) + _FLUSH
        news = [one.new for one in sent if one.new]
        if not news:
            return order
        repo = pygit2.Repository(str(self.mirror))
        known = [at for at in theirs if at in repo]
        with suppress(*UNREADABLE):  # a commit may have been given by its tag
            if pack := _packed(repo, news, known):
                return order + pack
        revs = (*news, *(f"^{at}" for at in known))
        stdin = "".join(f"{each}\n" for each in revs).encode()
        return order + git.run(_PACK, cwd=self.mirror, stdin=stdin).stdout

    def _asked(
        self,
        verb: str,
        what: str,
        body: bytes | None = None,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> tuple[int, bytes]:
        parts = urlsplit(self.url)
        headers = {**headers}
        if body is not None:
            headers["Content-Type"] = f"application/x-{what}-request"
        if self.token:
            headers["Authorization"] = f"Basic {git.pair_of(self.token)}"
        line = HTTPConnection(parts.hostname or "", parts.port, timeout=self.deadline_s)
        try:
            line.request(verb, f"{parts.path}/{what}", body, headers)
            answer = line.getresponse()
            return answer.status, answer.read()
        finally:
            line.close()

    def _denied(self, status: int, body: bytes) -> git.Completed:
        told = "".join(f"remote: {each}\n" for each in _text(body).splitlines())
        said = f"unable to access '{self.url}': The requested URL returned error"
        return git.Completed(128, b"", git.redacted(f"{told}fatal: {said}: {status}"))


def _packed(
    repo: pygit2.Repository, news: Sequence[str], theirs: Sequence[str]
) -> bytes:
    """Return what these commits lead to and those do not, as git packs it.

    Empty: it is worth a process that finds what is alike.
    """
    walk = repo.walk(news[0])
    for each in news[1:]:
        walk.push(each)
    for each in theirs:
        walk.hide(each)
    found: dict[pygit2.Oid, None] = {}
    for commit in walk:
        found[commit.id] = None
        before = [parent.tree for parent in commit.parents]
        if commit.tree not in before:
            found[commit.tree.id] = None
            for oid in _new_entries(commit.tree, before):
                found[oid] = None
                if len(found) > _MOST_OBJECTS:
                    return b""
    builder, size = pygit2.PackBuilder(repo), 0
    for oid in found:
        size += repo.odb.read_header(oid)[1]
        if size > _MOST_BYTES:
            return b""
        builder.add(oid)
    with TemporaryDirectory(prefix="brat-pack-") as folder:
        builder.write(folder)
        return next(Path(folder).glob("*.pack")).read_bytes()


def _new_entries(
    tree: pygit2.Tree, before: Sequence[pygit2.Tree]
) -> Iterator[pygit2.Oid]:
    """Yield what is below a tree and in none of these at the same place."""
    left = [(tree, before)]  # an agent may nest folders deeper than calls may be
    while left:
        tree, before = left.pop()
        for entry in tree:
            name = entry.name or ""
            same = [each[name] for each in before if name in each]
            if entry in same or entry.filemode == FileMode.COMMIT:  # a submodule's
                continue
            yield entry.id
            if isinstance(entry, pygit2.Tree):
                trees = [each for each in same if isinstance(each, pygit2.Tree)]
                left.append((entry, trees))


def _answered(body: bytes) -> tuple[dict[str, str], str]:
    """Return why each ref was refused, empty if it was not, and what is for people."""
    bands = {_REPORT: b"", _SAID: b"", _FATAL: b""}
    for packet in packets(body):
        bands[packet[0]] = bands.get(packet[0], b"") + packet[1:]
    report: dict[str, str] = {}
    said = [f"remote: {line}" for line in _text(bands[_SAID]).splitlines()]
    said += [f"fatal: {line}" for line in _text(bands[_FATAL]).splitlines()]
    for packet in packets(bands[_REPORT]):
        kind, _, rest = _text(packet).strip().partition(" ")
        ref, _, why = rest.partition(" ")
        if kind in {"ok", "ng"}:
            report[ref] = why if kind == "ng" else ""
        elif rest != "ok":
            said.append(f"error: remote unpack failed: {rest}")
    return report, "\n".join(said)


def packet_of(line: str) -> bytes:
    """Return a line in git's wire format.

    https://git-scm.com/docs/gitprotocol-common#_pkt_line_format
    """
    data = line.encode(errors="replace")
    return b"%04x%s" % (len(data) + 4, data)


def packets(data: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        size = int(data[at : at + 4], 16)
        if size > len(_FLUSH):
            yield data[at + 4 : at + size]
        at += max(size, len(_FLUSH))


def _text(data: bytes) -> str:
    return git.redacted(data.decode(errors="replace"))


def remote_at(url: str, mirror: Path, token: str | None) -> Remote:
    """Return a remote, and one that spares git's client if it is on this machine."""
    parts = urlsplit(url)
    is_near = parts.scheme == "http" and outbound.is_local(parts.hostname or "")
    return (NearRemote if is_near else Remote)(url, mirror, token)
