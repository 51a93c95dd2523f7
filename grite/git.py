"""The git program, run from a clean environment and never past its deadline.

No user's configuration, prompts or language affect it, and no shell is involved. What
a repository itself has configured counts only for the way to others: addresses,
credentials, proxies. It is not taken from a folder that an agent may have written to
(`trusted_programs`). A token travels in the environment (`authorization`), never in an
argument or a URL.
"""

import atexit
import base64
import contextlib
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Final

from msgspec import Struct

from grite import errors, outbound, trusted_programs
from grite.errors import BratError, GitFailed, Unavailable

DEADLINE_S: Final = 60.0
OLDEST: Final = (2, 38, 0)
"""The first git that can merge trees without a work tree (`merge-tree --write-tree`).
https://git-scm.com/docs/git-merge-tree
"""

_SECRET: Final = re.compile(
    r"(?<=://)[^/@\s]+(?=@)"  # user and password in a URL
    r"|(?<=Authorization: )[^\r\n]+"
    r"|\bgh[a-z]_[A-Za-z0-9]{16,}|\bgithub_pat_\w+",
    re.IGNORECASE,
)
_VALUE_KEY: Final = "GIT_CONFIG_VALUE_"
_OVERRIDES: Final = (
    # nothing but what is named leaves the machine, and nothing else comes
    *("submodule.recurse=false", "push.recurseSubmodules=no"),
    *("push.followTags=false", "push.pushOption=", "push.negotiate=false"),
    *("push.useForceIfIncludes=false", "fetch.recurseSubmodules=no"),
    *("fetch.prune=false", "fetch.pruneTags=false"),
    # nobody's key signs, and no program of a person's runs
    *("push.gpgSign=false", "commit.gpgSign=false", "tag.gpgSign=false"),
    *("core.hooksPath=/dev/null", "core.fsmonitor=false"),
    *("gc.auto=0", "maintenance.auto=false"),
    # what git allows where nothing is configured
    *(f"protocol.{each}.allow=always" for each in ("http", "https", "git", "ssh")),
    "protocol.file.allow=user",
)
"""What a person may have configured in a repository and brat must not act on.
https://git-scm.com/docs/git-config
"""
_AS_OURS: Final = tuple(word for each in _OVERRIDES for word in ("-c", each))
_GLOBAL: Final = {"GIT_CONFIG_GLOBAL": os.devnull}


class Completed(Struct, frozen=True):
    status: int
    """0 unless `check` was off; negative for the signal that ended it."""
    stdout: bytes
    stderr: str
    """Its error output, without secrets."""


def run(
    args: Sequence[str],
    *,
    cwd: Path | None = None,
    deadline_s: float = DEADLINE_S,
    env: Mapping[str, str] | None = None,
    stdin: bytes | None = None,
    check: bool = True,
    memory_bytes: int | None = None,
) -> Completed:
    """Run `git ARGS` to its end.

    A `-c` among the arguments wins over all configuration, and `env` over the clean
    environment. At the deadline git and all it started are killed. `memory_bytes` is
    what git itself may take, for what a stranger made; where the system can bound it
    (Linux), and set just after git has started.

    Raises:
        Unavailable: the deadline came first, or `cwd` is gone.
        GitFailed: git ended with an error and `check` is on.
        BratError: there is no git.
    """
    argv = (trusted_programs.found("git"), *_AS_OURS, *args)
    extra = dict(env or {})
    try:
        process = _start(argv, cwd, extra)
        if memory_bytes is not None and sys.platform == "linux":
            most = (memory_bytes, memory_bytes)
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                resource.prlimit(process.pid, resource.RLIMIT_DATA, most)
        status, out, err = _end_of(process, stdin, deadline_s)
    except subprocess.TimeoutExpired:
        verb = redacted(errors.git_verb(args), extra)
        said = f"git {verb} took longer than {deadline_s:g} s"
        raise Unavailable(said) from None
    stderr = redacted(err.decode(errors="replace"), extra)
    if check and status != 0:
        shown = ["git", *(redacted(arg, extra) for arg in args)]
        raise GitFailed(shown, status, stderr)
    return Completed(status, out, stderr)


@cache
def trust(folder: Path) -> None:
    """Let git work in a folder of another user, as the person's own git does.

    A file says so (`safe.directory`), for each git that git starts: options do not
    reach those.
    """
    if _GLOBAL["GIT_CONFIG_GLOBAL"] == os.devnull:
        handle, name = tempfile.mkstemp(prefix="brat-git-")
        os.close(handle)
        atexit.register(os.unlink, name)
        _GLOBAL["GIT_CONFIG_GLOBAL"] = name
    with Path(_GLOBAL["GIT_CONFIG_GLOBAL"]).open("a", errors="surrogateescape") as file:
        file.write(f"[safe]\n\tdirectory = {quoted(str(folder))}\n")


def batched(answer: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the head of each object in the answer of `git cat-file --batch`, and it.

    https://git-scm.com/docs/git-cat-file#_batch_output
    """
    at = 0
    while (end := answer.find(b"\n", at)) >= 0:
        head, at = answer[at:end].decode(), end + 1
        size = head.rpartition(" ")[2]
        if size.isdecimal():  # else it says that the object is missing
            at += int(size) + 1
        yield head, answer[end + 1 : at - 1]


def lines(output: bytes, errors: str = "surrogateescape") -> list[str]:
    """Return the lines that git printed.

    Not by `str.splitlines`: a ref's name may hold line ends of Unicode, such as U+2028,
    and what stands before one would pass for another ref's name.
    """
    return output.decode(errors=errors).removesuffix("\n").split("\n") if output else []


def quoted(text: str) -> str:
    """Return a text as git reads it whole in a configuration or a list of paths."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def version() -> tuple[int, int, int]:
    """Return the version of git; each program is asked once.

    Raises `BratError`: there is no git, or it does not say.
    """
    return _version_of(trusted_programs.found("git"))


@cache
def _version_of(_program: str) -> tuple[int, int, int]:
    said = run(["version"]).stdout.decode(errors="replace")
    found = re.search(r"(\d+)\.(\d+)(?:\.(\d+))?", said)
    if found is None:
        raise BratError(f"git did not report its version: {said.strip()!r}")
    return int(found[1]), int(found[2]), int(found[3] or 0)


def require_version() -> None:
    """Check that git is new enough.

    Raises `BratError`: it is not; the text says what to do.
    """
    have = version()
    if have < OLDEST:
        raise BratError(
            f"git {'.'.join(map(str, have))} is too old: "
            f"install git {OLDEST[0]}.{OLDEST[1]} or newer"
        )


def authorization(token: str) -> dict[str, str]:
    """Return the environment that makes git send `token` with each HTTP request.

    The form is the one GitHub takes for all its kinds of token:
    https://docs.github.com/en/rest/authentication
    """
    return {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "http.extraHeader",
        f"{_VALUE_KEY}0": f"Authorization: Basic {pair_of(token)}",
    }


def pair_of(token: str) -> str:
    """Return the form in which `token` is sent, which is as secret as the token."""
    return base64.b64encode(f"x-access-token:{token}".encode()).decode()


def redacted(text: str, env: Mapping[str, str] | None = None) -> str:
    """Return `text` without tokens, passwords in URLs and the values set by `env`."""
    for key, value in (env or {}).items():
        if key.startswith(_VALUE_KEY) and value:
            text = text.replace(value, "***")
    return _SECRET.sub("***", text)


def _start(
    argv: Sequence[str], cwd: Path | None, env: dict[str, str]
) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(
            argv,
            cwd=cwd,
            env={
                "PATH": trusted_programs.folders(),
                "HOME": "/nonexistent",
                "LC_ALL": "C",
                "GIT_CONFIG_NOSYSTEM": "1",
                **_GLOBAL,
                "GIT_ATTR_NOSYSTEM": "1",
                "GIT_TERMINAL_PROMPT": "0",
                "GIT_OPTIONAL_LOCKS": "0",  # people work in their checkouts meanwhile
                "no_proxy": ",".join(outbound.LOCAL_NAMES),
                **env,
            },
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,  # a group to kill, and no terminal to ask on
        )
    except (FileNotFoundError, NotADirectoryError) as error:
        said = f"cannot run git: {error.filename} does not exist"
        gone = cwd is not None and not cwd.is_dir()
        raise (Unavailable if gone else BratError)(said) from error


def _end_of(
    process: subprocess.Popen[bytes], stdin: bytes | None, deadline_s: float
) -> tuple[int, bytes, bytes]:
    """Wait for the end of `process`; however this returns, its group is gone."""
    with process:
        try:
            out, err = process.communicate(stdin or b"", timeout=deadline_s)
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    return process.returncode, out, err
