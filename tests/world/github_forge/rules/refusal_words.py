"""What a refused push is told, in GitHub's words: what git shows behind `remote:`.

Each form is that of a real transcript; tests/forge/transcripts holds them.
"""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from typing import Final
from urllib.parse import quote

from tests.world.github_forge.rules.push_rules import Violation
from tests.world.github_forge.rules.pushed_commits import FoundSecret

RULES: Final = "push declined due to repository rule violations"
PROTECTED: Final = "protected branch hook declined"
PRE_RECEIVE: Final = "pre-receive hook declined"
ATOMIC: Final = "atomic push failure"
INCOMPLETE: Final = "missing necessary objects"
"""The last three are git's own words."""
_WIDTH: Final = 54
_HELP: Final = (
    "https://docs.github.com/code-security/secret-scanning/"
    "working-with-secret-scanning-and-push-protection/"
    "working-with-push-protection-from-the-command-line#resolving-a-blocked-push"
)
_LARGE: Final = (
    "error: GH001: Large files detected. You may want to try Git Large File Storage - "
    "https://git-lfs.github.com.\n"
)
_MEGABYTE: Final = 1 << 20


def workflow(path: str) -> str:
    """Say that a token may not change workflow files."""
    return (
        "refusing to allow a GitHub App to create or update workflow "
        f"`{path}` without `workflows` permission"
    )


def protected(ref: str, found: Iterable[Violation]) -> str:
    """Say that a branch's protection is against an update."""
    head = f"error: GH006: Protected branch update failed for {ref}.\n"
    return head + "".join("\n" + _listed(each) for each in found)


def against_rules(ref: str, page: str, found: Sequence[Violation]) -> str:
    """Say that a repository's rulesets are against an update; `page` is its page."""
    head = f"error: GH013: Repository rule violations found for {ref}.\n"
    where = f"{page}/rules?ref={quote(ref, safe='')}"
    head += f"Review all repository rules at {where}\n"
    return head + "".join("\n" + _listed(each) for each in found) + "\n"


def bypassed(ref: str, found: Iterable[Violation]) -> str:
    """Say what somebody was allowed all the same."""
    head = f"Bypassed rule violations for {ref}:\n"
    return head + "".join("\n" + _listed(each) for each in found) + "\n"


def secrets(ref: str, page: str, found: Iterable[FoundSecret]) -> str:
    """Say that push protection found secrets."""
    by_mark: dict[str, list[FoundSecret]] = {}
    for one in found:
        by_mark.setdefault(one.mark, []).append(one)
    said = f"error: GH013: Repository rule violations found for {ref}.\n\n"
    said += _box("Push cannot contain secrets")
    said += f"\n\n     (?) Learn how to resolve a blocked push\n     {_HELP}\n\n\n"
    for mark, places in by_mark.items():
        title = f"—— {places[0].kind} "
        said += f"      {title.ljust(_WIDTH, '—')}\n       locations:\n"
        for place in places:
            said += f"         - commit: {place.commit}\n"
            said += f"           path: {place.path}:{place.line}\n"
        allow = f"{page}/security/secret-scanning/unblock-secret/{mark}"
        said += "\n       (?) To push, remove secret from commit(s) or follow this URL"
        said += f" to allow the secret.\n       {allow}\n\n"
    return said + "\n"


def large_files(found: Iterable[tuple[str, int]], most: int) -> str:
    """Say which files are larger than `most` bytes."""
    found = tuple(found)
    trace = sha256(repr(found).encode()).hexdigest()
    said = f"error: Trace: {trace}\n"
    said += "error: See https://gh.io/lfs for more information.\n"
    for path, size in found:
        said += f"error: File {path} is {size / _MEGABYTE:.2f} MB; this exceeds "
        said += f"GitHub's file size limit of {most / _MEGABYTE:.2f} MB\n"
    return said + _LARGE


def large_pack(most: int) -> str:
    """Say that a push is larger than `most` bytes, as `git index-pack` does."""
    said = f"{most} bytes"
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if most >= size:
            said = f"{most / size:.2f} {unit}"
            break
    return f"fatal: pack exceeds maximum allowed size ({said})\n"


def _listed(one: Violation) -> str:
    said = f"- {one.text}\n"
    if one.commits:
        plural = "s" if len(one.commits) > 1 else ""
        said += f"  Found {len(one.commits)} violation{plural}:\n\n"
        said += "".join(f"  {sha}\n" for sha in one.commits)
    return said


def _box(text: str) -> str:
    return (
        f"- GITHUB PUSH PROTECTION\n  {'—' * 41}\n"
        f"    Resolve the following violations before pushing again\n\n    - {text}\n"
    )
