"""What the forge remembers, one frozen struct a thing.

A record is replaced, never changed, and written through by `store.Store`. Ids are
unique over the whole forge; times are ISO 8601 in UTC. Commits, branches and files are
not here: they are in the bare repositories and always read from there.
"""

from typing import Literal

from msgspec import Struct

Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
"""Rising: each role may do what those before it may."""

Scope = Literal["read", "write"]
Kind = Literal["User", "Bot"]
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


class Record(Struct, frozen=True, kw_only=True):
    """What every record has."""

    id: int


# --- who --------------------------------------------------------------------------


class User(Record, frozen=True, kw_only=True):
    """An account; `slug[bot]` is a bot's login."""

    login: str
    kind: Kind
    created_at: str


class Token(Record, frozen=True, kw_only=True):
    """What a caller shows; only its digest is kept."""

    user: int
    scope: Scope
    digest: str
    """SHA-256 of the secret, hex."""
    repo: int | None = None
    """The one repository it opens; None: all that its user may see."""


# --- repositories -----------------------------------------------------------------


class Ci(Struct, frozen=True, kw_only=True):
    """How pushes are judged."""

    command: str | None = None
    """Run by `sh -c` in a fresh checkout; None: pushes are not judged."""
    branches: tuple[str, ...] = ()
    """Patterns (`*` within a name, `**` across slashes) beside brat/queue/**."""
    timeout_s: float = 600.0
    slots: int = 4
    """How many run at once."""


class Settings(Struct, frozen=True, kw_only=True):
    """What the owner of a repository may choose."""

    ci: Ci = Ci()
    required_checks: tuple[str, ...] = ()
    """Check runs or statuses that `PUT merge` into the default branch waits for."""
    github_limits: bool = False
    """Refuse as GitHub does when a caller asks too often."""


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
    rights: tuple[tuple[str, Role], ...] = ()
    """By lower-case login; whoever is not named may read a public repository."""
    last_number: int = 0
    """Of the newest issue or pull request."""
    settings: Settings = Settings()

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"


# --- issues and pull requests -----------------------------------------------------


class Label(Record, frozen=True, kw_only=True):
    """A label of a repository."""

    repo: int
    name: str
    color: str
    description: str | None = None


class Issue(Record, frozen=True, kw_only=True):
    """An issue, or the side of a pull request that is one."""

    repo: int
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


class IssueEvent(Record, frozen=True, kw_only=True):
    """Something that was done to an issue: `labeled`, `closed`, ..."""

    issue: int
    actor: int
    event: str
    created_at: str
    label: tuple[str, str] | None = None
    """Name and colour as they were then."""
    commit: str | None = None


class Comment(Record, frozen=True, kw_only=True):
    """A comment on an issue or a pull request."""

    repo: int
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


class Pull(Record, frozen=True, kw_only=True):
    """What a pull request is beyond its issue. Head and base are in one repository."""

    repo: int
    number: int
    head: str
    """A branch, without refs/heads/."""
    base: str
    head_sha: str
    """Follows the branch while the pull request is open."""
    base_sha: str
    """The base branch's tip when it was last looked at."""
    draft: bool = False
    merged_at: str | None = None
    merged_by: int | None = None
    merge_commit: str | None = None


class Review(Record, frozen=True, kw_only=True):
    """A review; `state` as GitHub writes it: APPROVED, CHANGES_REQUESTED, ..."""

    pull: int
    user: int
    body: str
    state: str
    commit: str
    submitted_at: str


# --- checks -----------------------------------------------------------------------


class Output(Struct, frozen=True, kw_only=True):
    """What a check run says."""

    title: str | None = None
    summary: str | None = None
    text: str | None = None


class Job(Struct, frozen=True, kw_only=True):
    """The CI job behind a check run of the forge's own."""

    ref: str
    pid: int | None = None
    born: float | None = None
    """The process's create time: with the pid it names one process for good."""


class CheckRun(Record, frozen=True, kw_only=True):
    """A check run on one commit."""

    repo: int
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
    job: Job | None = None


class CommitStatus(Record, frozen=True, kw_only=True):
    """A commit status; the newest of a context counts."""

    repo: int
    sha: str
    state: str
    context: str
    creator: int
    created_at: str
    description: str | None = None
    target_url: str | None = None


# --- workflow runs ----------------------------------------------------------------


class Run(Record, frozen=True, kw_only=True):
    """A workflow run and the process that carries it out, in runs/<id>/."""

    repo: int
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
    """The process's create time: with the pid it names one process for good."""
    token: int | None = None
    """The read token it was given, which dies with it."""
    cancelling: bool = False
    artifact_digest: str | None = None
    """SHA-256 of the token with which another starter may hand over artifacts."""


class Artifact(Record, frozen=True, kw_only=True):
    """A zip in runs/<run>/artifacts/<name>.zip."""

    run: int
    repo: int
    name: str
    size: int
    digest: str
    """`sha256:` and 64 hex digits."""
    created_at: str


# --- webhooks ---------------------------------------------------------------------


class Hook(Record, frozen=True, kw_only=True):
    """Where deliveries of a repository go."""

    repo: int
    url: str
    secret: str
    events: tuple[str, ...]
    """`*` stands for all."""
    created_at: str
    updated_at: str
    active: bool = True


class Delivery(Record, frozen=True, kw_only=True):
    """One try to deliver one payload."""

    hook: int
    repo: int
    guid: str
    """The same for each try with the same payload."""
    event: str
    created_at: str
    action: str | None = None
    redelivery: bool = False
    pending: bool = True
    status: str = "pending"
    status_code: int = 0
    duration_s: float = 0.0


class Payload(Record, frozen=True, kw_only=True):
    """What a delivery carries; its id is the delivery's."""

    hook: int
    body: str


class Sequence(Record, frozen=True, kw_only=True):
    """The last id that was given; there is one, with the id 0."""

    last: int
