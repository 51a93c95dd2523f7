"""The forge's records: accounts, repositories, issues, pull requests, checks and runs.

A record is a frozen struct: it is replaced, never changed, and written through by
`record_store.Store`. Ids are unique over the whole forge; times are ISO 8601 in UTC.
Commits, branches and files are no records: they are read from the bare repositories.
"""

import zlib
from typing import Literal

from msgspec import Struct

from convoy.model.records import BoxSetting


class Record(Struct, frozen=True, kw_only=True):
    id: int = 0
    """0: it has none yet."""


class Owned(Record, frozen=True, kw_only=True):
    repo: int


class Sequence(Record, frozen=True, kw_only=True):
    """The last id that was given; there is one, with the id 0."""

    last: int


Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
"""Rising: each role may do what those before it may."""

Scope = Literal["read", "write"]
Kind = Literal["User", "Bot"]


class User(Record, frozen=True, kw_only=True):
    """An account; `slug[bot]` is a bot's login."""

    login: str
    kind: Kind
    created_at: str


Permissions = tuple[tuple[str, str], ...]
"""Pairs of a permission's name and `read` or `write`."""


class Access(Struct, frozen=True, kw_only=True):
    """The limits of a restricted token: repositories, permissions, expiry."""

    repos: tuple[int, ...]
    permissions: Permissions
    expires_at: str


class Token(Record, frozen=True, kw_only=True):
    """A caller's token; only its digest is kept."""

    user: int
    scope: Scope
    digest: str
    """SHA-256 of the secret, hex."""
    repo: int | None = None
    """The one repository it opens; None: every repository its user may see."""
    access: Access | None = None
    """Set when the token may do less than its user, as a run's token."""


EPOCH = "2008-01-01T00:00:00Z"
ACTIONS_APP = "github-actions"
ACTIONS_APP_ID = 15368
"""GitHub's own id of that app."""


def app_number(slug: str) -> int:
    """An app's id. The forge keeps no apps: only GitHub's own has one."""
    return ACTIONS_APP_ID if slug == ACTIONS_APP else 0


class Hook(Owned, frozen=True, kw_only=True):
    """A webhook of a repository, or of another record with that id."""

    url: str
    secret: str


class Ci(Struct, frozen=True, kw_only=True):
    command: str | None = None
    """Run by `sh -c` in a fresh checkout; None: pushes are not judged."""
    timeout_s: float = 600.0
    slots: int | None = None
    """How many run at once; None: as many as this machine has cores."""
    checkout: str = ""
    """The owner's own checkout on this machine: copies of submodules, and what their
    relative addresses are relative to; empty: there is none."""
    egress: tuple[str, ...] | None = None
    """The only hosts that the command may reach; None: the public package registries;
    `"*"`: all."""
    box: BoxSetting = "on"
    """Whether it runs in a box; `off`: as the forge's own user."""


class Repository(Record, frozen=True, kw_only=True):
    """A repository; its bare folder is repos/<owner>/<name>.git."""

    owner: str
    name: str
    default_branch: str
    created_at: str
    updated_at: str
    pushed_at: str
    description: str | None = None
    private: bool = False
    archived: bool = False
    rights: tuple[tuple[str, Role], ...] = ()
    """Roles by lower-case login; any other account may read a public repository."""
    last_number: int = 0
    """The number of the newest issue or pull request."""
    ci: Ci = Ci()

    @property
    def full_name(self) -> str:
        return f"{self.owner}/{self.name}"


class Label(Owned, frozen=True, kw_only=True):
    name: str
    color: str
    description: str | None = None


class Issue(Owned, frozen=True, kw_only=True):
    """An issue, or the side of a pull request that is one."""

    number: int
    title: str
    author: int
    created_at: str
    updated_at: str
    body: str | None = None
    state: Literal["open", "closed"] = "open"
    state_reason: str | None = None
    closed_at: str | None = None
    closed_by: int | None = None
    labels: tuple[int, ...] = ()
    comments: int = 0
    pull: bool = False
    assignees: tuple[int, ...] = ()
    locked: bool = False


class IssueEvent(Record, frozen=True, kw_only=True):
    """Something that was done to an issue: `labeled`, `closed`, ..."""

    issue: int
    actor: int
    event: str
    created_at: str
    label: tuple[str, str] | None = None
    """Name and colour as they were then."""
    assignee: int | None = None
    commit: str | None = None


class Comment(Owned, frozen=True, kw_only=True):
    issue: int
    number: int
    author: int
    body: str
    created_at: str
    updated_at: str


class Reaction(Record, frozen=True, kw_only=True):
    """A reaction to the issue or comment whose id is `subject`."""

    subject: int
    user: int
    content: str
    created_at: str


class Pull(Owned, frozen=True, kw_only=True):
    """A pull request's own fields, beyond its issue; both branches are in one repo."""

    number: int
    head: str
    """A branch, without refs/heads/."""
    base: str
    head_sha: str
    """Follows the branch while the pull request is open."""
    base_sha: str
    """The base branch's tip when it was last looked at before the merge."""
    draft: bool = False
    merged_at: str | None = None
    merged_by: int | None = None
    merge_commit: str | None = None


Conclusion = Literal[
    "success",
    "failure",
    "neutral",
    "cancelled",
    "skipped",
    "stale",
    "timed_out",
    "action_required",
]
Progress = Literal["queued", "in_progress", "completed"]


class Output(Struct, frozen=True, kw_only=True):
    title: str | None = None
    summary: str | None = None
    text: str | None = None


class Job(Struct, frozen=True, kw_only=True):
    """The CI job behind a check run of the forge's own."""

    ref: str
    pid: int | None = None
    born: float | None = None
    """The process's creation time: pid and time together name one process for good."""


class CheckRun(Owned, frozen=True, kw_only=True):
    head_sha: str
    name: str
    app: str
    """The slug of the app that made it."""
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    completed_at: str | None = None
    details_url: str | None = None
    external_id: str | None = None
    output: Output = Output()
    annotations: int = 0
    actions: tuple[dict[str, str], ...] = ()
    """The buttons that the app asks for."""
    job: Job | None = None


class Run(Owned, frozen=True, kw_only=True):
    """A workflow run and the process that carries it out, in runs/<id>/."""

    number: int
    """Counts the workflow's runs."""
    path: str
    """The workflow's file."""
    title: str
    branch: str
    head_sha: str
    actor: int
    inputs: dict[str, str]
    created_at: str
    updated_at: str
    event: str = "workflow_dispatch"
    status: Progress = "queued"
    conclusion: Conclusion | None = None
    started_at: str | None = None
    pid: int | None = None
    born: float | None = None
    """The process's creation time: pid and time together name one process for good."""
    payload: str | None = None
    """The event that started the run, as JSON; None: a dispatch with `inputs`."""
    token: int | None = None
    """The run's token, which is removed when the run ends."""
    cancelling: bool = False


class Artifact(Owned, frozen=True, kw_only=True):
    """A zip in runs/<run>/artifacts/<name>.zip."""

    run: int
    name: str
    size: int
    digest: str
    """`sha256:` and 64 hex digits."""
    created_at: str


TASK_WORKFLOW = ".github/workflows/brat-task.yml"
"""Always there, whatever the repository holds."""
JOB_NAME = "session"


def workflow_id(path: str) -> int:
    """The id of a workflow: a number made of its path, the same in each repository."""
    return zlib.crc32(path.encode())
