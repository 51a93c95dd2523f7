"""The refs of another repository: look, fetch, and push with a lease on each ref.

git reports a failed push in many ways, and a cut connection not at all. So after every
failure the remote's refs are read back, and they decide.
"""

import re
import signal
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Final

from msgspec import Struct

from grite import errors, git, outbound
from grite.push_answer import push_answer

PATTERNS: Final = ("refs/heads/*", "refs/grite/*")
PARTS: Final = ("HEAD", "config", "objects", "refs")
"""The files git expects in a repository."""
_NO_GC: Final = "[gc]\n\tauto = 0\n"
_HEADS: Final = "refs/heads/"
_AS_ONE_PACK: Final = ("-c", "fetch.unpackLimit=1")
"""What a clone begins with stays as it came: unpacking it would compress it again."""

_REFUSED: Final = (
    r"returned error: 4(?!08|29)\d\d|HTTP 4(?!08|29)\d\d|Authentication failed"
    r"|could not read Username|Permission denied|Repository not found|hook declined"
)
_UNREACHABLE: Final = (
    r"Could not resolve|Failed to connect|Couldn't connect|Connection \w+"
    r"|timed out|RPC failed|early EOF|disconnect|hung up|Empty reply|Recv failure"
    r"|transfer closed|SSL_|gnutls_|unreachable|No route|Temporary failure"
    r"|returned error: (?:408|429|5\d\d)|Could not read from remote"
)
_FETCH_RACE: Final = r"cannot lock ref|unable to update local ref"
_NO_ROOM: Final = (
    r"(?m)No space left on device|Disk quota exceeded"
    rf"|^(?!remote:).*(?:File too large|died of signal {signal.SIGXFSZ:d})"
)
"""The other side's "file too large" is a rule of it."""
WHOLE: Final = 2_147_483_647
"""The depth for everything, even in a clone that was shallow.
https://git-scm.com/docs/shallow"""
_COMMIT: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
_NO_TEXT: Final = "\ufffd"
_REF: Final = re.compile(r"refs/[^\s:*?\[\\^~]+", re.ASCII)


class RefUpdate(Struct, frozen=True):
    """The change wanted for one ref.

    If `new` and `old` are equal, the ref only has to be there when the push starts.
    Raises `ValueError`: no full ref name, or a value that is no full commit id.
    """

    ref: str
    """Full name."""
    new: str | None
    """The commit to move it to; None deletes it."""
    old: str | None
    """The commit it must be at; None: it must not exist."""

    def __post_init__(self) -> None:
        if not _REF.fullmatch(self.ref):
            raise ValueError(f"give the full name of a ref, not {self.ref!r}")
        for commit in (self.new, self.old):
            if commit is not None and not _COMMIT.fullmatch(commit):
                raise ValueError(f"give the commit's full ID, not {commit!r}")


class Advertised(Struct, frozen=True):
    refs: dict[str, str]
    """Commit ids by full ref name."""
    head: str | None
    """The full ref that HEAD points to; None if it does not exist."""

    @property
    def default_branch(self) -> str | None:
        """The branch that HEAD points to, without refs/heads/."""
        if self.head is None or not self.head.startswith(_HEADS):
            return None
        return self.head.removeprefix(_HEADS)


def ensure_mirror(path: Path) -> None:
    """Make a bare repository at `path` that never cleans up by itself.

    Safe to call again; what is missing is made again.
    """
    config = path / "config"
    if all((path / part).exists() for part in PARTS) and _NO_GC in config.read_text():
        return
    git.run(["init", "--quiet", "--bare", "--template=", "-b", "main", "--", str(path)])
    if _NO_GC not in config.read_text():
        with config.open("a") as file:
            file.write(_NO_GC)


class Remote(Struct, frozen=True):
    """A repository elsewhere and the local bare one that mirrors it."""

    url: str
    mirror: Path
    """A bare repository; see `ensure_mirror`."""
    token: str | None = None
    """For HTTP."""
    deadline_s: float = git.DEADLINE_S
    """For each call of git."""

    def __repr__(self) -> str:
        return errors.repr_without(self, "token")

    def advertised(self, patterns: Sequence[str] = PATTERNS) -> Advertised:
        """Return the refs that match `patterns`, and HEAD, in one look.

        Raises:
            Unavailable: no answer.
            GitFailed: any other error.
        """
        done = self._look(patterns)
        refs: dict[str, str] = {}
        head: str | None = None
        for line in git.lines(done.stdout, "replace"):
            value, _, name = line.partition("\t")
            if name == "HEAD" and value.startswith("ref: "):
                head = value.removeprefix("ref: ")
            elif _NO_TEXT in name:  # it could not be named to the server
                continue
            # git matches a pattern against the end of a name, too.
            elif any(fnmatchcase(name, pattern) for pattern in patterns):
                refs[name] = value
        return Advertised(refs, head)

    def refs(self, patterns: Sequence[str] = PATTERNS) -> dict[str, str]:
        """Return the commit ids of the refs that match; raises as `advertised`."""
        return self.advertised(patterns).refs

    def default_branch(self) -> str | None:
        """Return the name of HEAD's branch, None if it does not exist.

        Raises as `advertised`.
        """
        return self.advertised(()).default_branch

    def fetch(
        self,
        specs: Sequence[str],
        depth: int | None = None,
        *,
        again: bool = False,
        tags: bool = False,
    ) -> None:
        """Bring commits or refspecs into the mirror.

        No ref of the mirror moves but those a refspec names. Safe to call again.
        `depth` brings this many commits of each chain, `WHOLE` all; `again` also what
        seems to be here already, to mend what was damaged; `tags` those on what comes,
        if a refspec names a ref here.

        Raises:
            Unavailable: no answer, or no room for it.
            Conflict: somebody else fetches into the same mirror right now.
            GitFailed: any other error, such as a commit that is not there.
        """
        if not specs:
            return
        options = ["--quiet", "--no-write-fetch-head"]
        if not tags:
            options.append("--no-tags")
        kept: tuple[str, ...] = ()
        if depth is not None:
            options.append(f"--depth={depth}")
            kept = _AS_ONE_PACK
        if again:
            options.append("--refetch")
        self._git(*kept, "fetch", *options, "--", self.url, *specs)

    def push(self, updates: Sequence[RefUpdate], *, atomic: bool = True) -> None:
        """Move refs of the remote, each only from where it is expected to be.

        The commits must be in the mirror. It returns when all refs stand at their new
        values, so the same push again is harmless.

        Raises:
            Conflict: a ref is not where it was expected; with `atomic` none moved.
            Unavailable: no answer. None had moved when the refs were read back, or
                they could not be read; the push may still arrive.
            Rejected: a hook, a rule or a lacking right forbids it; its answer says
                which refs. Without `atomic` others may have moved.
            GitFailed: any other error.
        """
        if not updates:
            return
        try:
            self._send(updates, atomic=atomic)
        except (errors.Conflict, errors.Unavailable, errors.GitFailed) as error:
            self._judge(updates, error)

    def _judge(self, updates: Sequence[RefUpdate], failure: errors.BratError) -> None:
        """Return if a failed push did arrive, else raise its error."""
        try:
            refs = self.refs([update.ref for update in updates])
        except (errors.Unavailable, errors.GitFailed):
            said = f"it is not known whether the push arrived: {failure}"
            raise errors.Unavailable(said) from failure
        if all(refs.get(u.ref) == u.new for u in updates):
            return
        lost = [u for u in updates if refs.get(u.ref) not in {u.old, u.new}]
        left = [u for u in updates if refs.get(u.ref) != u.new]
        some_moved = any(u.old != u.new == refs.get(u.ref) for u in updates)
        if lost or (some_moved and not isinstance(failure, errors.Rejected)):
            met: list[str] = []
            for u in lost or left:
                stands = f"is at {at}" if (at := refs.get(u.ref)) else "does not exist"
                wanted = f"was expected at {u.old}" if u.old else "should not exist yet"
                met.append(f"{u.ref} {stands} but {wanted}")
            said = f"refs had moved before the push: {', '.join(met)}"
            raise errors.Conflict(said) from failure
        raise failure

    def _look(self, patterns: Sequence[str]) -> git.Completed:
        return self._git("ls-remote", "--symref", "--", self.url, "HEAD", *patterns)

    def _send(self, updates: Sequence[RefUpdate], *, atomic: bool) -> None:
        leases = [f"--force-with-lease={u.ref}:{u.old or ''}" for u in updates]
        specs = [f"{u.new or ''}:{u.ref}" for u in updates]
        mode = ["--atomic"] if atomic else []
        args = ("push", "--porcelain", "--no-verify", *mode, *leases)
        self._git(*args, "--", self.url, *specs, pushed=[u.ref for u in updates])

    def _git(self, *args: str, pushed: Sequence[str] = ()) -> git.Completed:
        env = outbound.here().for_git()
        if self.token:
            env |= git.authorization(self.token)
        done = git.run(
            args, cwd=self.mirror, deadline_s=self.deadline_s, env=env, check=False
        )
        return self._ended(args, done, pushed)

    def _ended(
        self, args: Sequence[str], done: git.Completed, pushed: Sequence[str] = ()
    ) -> git.Completed:
        """Return what git, or what stands in for it, has done; raise its failure."""
        if done.status != 0:
            raise _failure(args, done, self.url, pushed)
        return done


def _failure(
    args: Sequence[str], done: git.Completed, url: str, pushed: Sequence[str]
) -> errors.BratError:
    stdout = git.redacted(done.stdout.decode(errors="replace"))
    rejected = "\n".join(line for line in stdout.splitlines() if line.startswith("!"))
    said = f"{done.stderr}\n{rejected}".strip()
    where = git.redacted(url)
    if re.search(_NO_ROOM, said):
        return errors.Unavailable(f"there is no space left: {errors.git_reason(said)}")
    if "fetch" in args and re.search(_FETCH_RACE, said):
        why = errors.git_reason(said)
        return errors.Conflict(f"another process is fetching into this mirror: {why}")
    answer = push_answer(pushed, stdout, done.stderr)
    if any(one.verdict == "stale" for one in answer.refs):
        return errors.Conflict(f"{where} rejected the push: {rejected}")
    if not rejected and not re.search(_REFUSED, said) and re.search(_UNREACHABLE, said):
        return errors.Unavailable(f"{where} did not answer: {errors.git_reason(said)}")
    argv = ["git", *map(git.redacted, args)]
    if answer.refused or (pushed and answer.unnamed):
        return errors.Rejected(argv, done.status, said, answer)
    return errors.GitFailed(argv, done.status, said)
