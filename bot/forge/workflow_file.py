"""One workflow file, as far as it matters who may start it and what its jobs get.

https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from msgspec import Struct
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

_SECRET: Final = re.compile(r"\bsecrets\s*(?:\.\s*|\[\s*['\"])([A-Za-z_]\w*)")
_WHOLE: Final = re.compile(r"toJSON\(\s*secrets\s*\)", re.IGNORECASE)
_CACHES: Final = re.compile(r"^actions/cache(/restore)?@")
_TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105  the name every job knows
EVERY_SECRET: Final = "*"  # noqa: S105  no secret has this name
Levels = Mapping[str, str]


class Job(Struct, frozen=True, kw_only=True):
    """What one job gets."""

    name: str
    permissions: str | Levels | None
    """Its own, else the file's; None: neither says any, so the repository's default."""
    secrets: tuple[str, ...]
    """The secrets that it names, without the token that every job has."""
    environment: str
    """Empty: it names none."""
    uses_cache: bool

    @property
    def may_write(self) -> bool | None:
        """Whether its token can write; None: the repository's default decides."""
        if self.permissions is None:
            return None
        if isinstance(self.permissions, str):
            return self.permissions == "write-all"
        return "write" in self.permissions.values()


class WorkflowFile(Struct, frozen=True):
    """One workflow file."""

    on: dict[str, Any]
    """The settings of each event that starts it, by the event's name."""
    jobs: tuple[Job, ...]

    def starts_on(self, event: str, branches: Sequence[str] = ()) -> bool:
        """Whether an event starts it; for a push, on one of these branches."""
        if event not in self.on:
            return False
        told = self.on[event] or {}
        if event != "push" or not isinstance(told, dict):
            return True
        if "branches" in told:
            return any(picked(_words(told["branches"]), each) for each in branches)
        if "branches-ignore" in told:
            ignored = _words(told["branches-ignore"])
            return any(not picked(ignored, each) for each in branches)
        return "tags" not in told and "tags-ignore" not in told

    @property
    def releases(self) -> bool:
        """Whether it runs for releases, deployments or pushed tags."""
        push = self.on.get("push")
        tags = isinstance(push, dict) and "tags" in push
        return tags or bool({"release", "deployment"} & self.on.keys())


def parsed(text: str) -> WorkflowFile | None:
    """Return a workflow file; None: the text is none, and GitHub does not run it."""
    try:
        whole = YAML(typ="safe", pure=True).load(text)
    except (YAMLError, ValueError, RecursionError):
        return None
    if not isinstance(whole, dict) or not isinstance(whole.get("jobs"), dict):
        return None
    shared = whole.get("permissions")
    env = whole.get("env")
    jobs = tuple(
        _job(str(name), job, shared, env)
        for name, job in whole["jobs"].items()
        if isinstance(job, dict)
    )
    return WorkflowFile(_events(whole.get("on", whole.get(True))), jobs)


def _events(on: object) -> dict[str, Any]:
    if isinstance(on, dict):
        return {str(name): told for name, told in on.items()}
    return dict.fromkeys(_words(on))


def _job(name: str, job: dict[str, Any], shared: object, env: object) -> Job:
    steps = [step for step in job.get("steps") or () if isinstance(step, dict)]
    used = [str(step.get("uses", "")) for step in steps]
    own = job.get("permissions", shared)
    place = job.get("environment")
    texts = [*_texts(job), *_texts(env)]
    return Job(
        name=name,
        permissions=own if isinstance(own, str | dict) else None,
        secrets=_secrets(texts, inherits=job.get("secrets") == "inherit"),
        environment=str(
            place.get("name", "") if isinstance(place, dict) else place or ""
        ),
        uses_cache=any(_CACHES.match(each) for each in used)
        or any("cache" in (step.get("with") or {}) for step in steps),
    )


def _secrets(texts: Sequence[str], *, inherits: bool) -> tuple[str, ...]:
    named = {name for text in texts for name in _SECRET.findall(text)}
    if inherits or any(_WHOLE.search(text) for text in texts):
        named.add(EVERY_SECRET)
    return tuple(sorted(named - {_TOKEN}))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def picked(patterns: Sequence[str], branch: str) -> bool:
    """Whether a list of branch patterns picks a branch; the last match counts.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
    """
    picked = False
    for pattern in patterns:
        if re.fullmatch(_regex(pattern.removeprefix("!")), branch):
            picked = not pattern.startswith("!")
    return picked


def _regex(pattern: str) -> str:
    """Return a filter pattern as a regular expression; `?` and `+` mean the same."""
    parts = re.split(r"(\*\*|\*|\?|\+|\[[^\]]*\])", pattern)
    known = {"**": ".*", "*": "[^/]*", "?": "?", "+": "+"}
    return "".join(
        known.get(part) or (part if part.startswith("[") else re.escape(part))
        for part in parts
    )
