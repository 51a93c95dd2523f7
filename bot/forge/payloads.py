"""The few fields of GitHub's answers and deliveries that brat reads.

Lenient on purpose: real payloads gain and lose fields; all other fields are ignored.
Source: https://docs.github.com/rest and https://docs.github.com/webhooks
"""

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, AliasPath, BaseModel, ConfigDict, Field


class Payload(BaseModel):
    """Fields that brat reads; unknown ones are ignored, and nothing is changed."""

    model_config = ConfigDict(extra="ignore", frozen=True, defer_build=True)


def at(*path: str, default: Any = ...) -> Any:  # noqa: ANN401  as pydantic's `Field`
    """Return a field that stands there in the payload; it has to without a default."""
    return Field(default, validation_alias=AliasPath(*path))


class Secret(Payload):
    """A payload that no error quotes."""

    model_config = ConfigDict(hide_input_in_errors=True)


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC)
    except OverflowError as error:  # of the first or last day there can be
        raise ValueError("not a valid time") from error


Moment = Annotated[datetime, AfterValidator(_in_utc)]
"""A time with the standard library's zone.

pydantic's own zone ends a process by a segmentation fault if a cycle still holds it
when the interpreter ends (pydantic_core.TzInfo, CPython 3.11).
"""

LabelName = Annotated[str, AfterValidator(str.casefold)]
"""A label's name without case: GitHub takes `Brat` and `brat` for one label.

https://docs.github.com/rest/issues/labels
"""


def _last_number(url: str) -> int:
    last = url.rpartition("/")[2]
    return int(last) if last.isdecimal() else 0


class Account(Payload):
    login: str
    type: str = "User"
    id: int = 0


class Workflow(Payload):
    state: str
    """`active`, or the way in which it was disabled."""


class Label(Payload):
    name: LabelName


class _Authored(Payload):
    user: Account | None = None

    def is_by(self, login: str) -> bool:
        return self.user is not None and self.user.login == login


class Issue(_Authored):
    id: int = 0
    number: int
    title: str
    body: str | None = None
    state: str
    labels: tuple[Label, ...] = ()
    assignees: tuple[Account, ...] = ()
    pull_request: object | None = None
    repository_url: str = ""
    comments: int = 0
    created_at: Moment | None = None
    updated_at: Moment | None = None
    state_reason: str | None = None
    sub_issues: int = at("sub_issues_summary", "total", default=0)
    open_blockers: int | None = at(
        "issue_dependencies_summary", "blocked_by", default=None
    )
    blockers: int | None = at(
        "issue_dependencies_summary", "total_blocked_by", default=None
    )

    @property
    def label_names(self) -> frozenset[str]:
        return frozenset(label.name for label in self.labels)


class IssueEvent(Payload):
    """One entry of an issue's events; only `labeled` ones have a label.

    Of an `assigned` one, the actor may be who was assigned, and the assigner who did.
    """

    event: str
    actor: Account | None = None
    assignee: Account | None = None
    assigner: Account | None = None
    label: Label | None = None
    created_at: Moment | None = None

    @property
    def about(self) -> str:
        return self.label.name if self.label is not None else ""


class Edited(Payload):
    last_edited_at: Moment | None = at("repository", "issue", "lastEditedAt")


class Mailed(Payload):
    by_mail: bool = at("node", "createdViaEmail")


class Comment(_Authored):
    id: int
    node_id: str = ""
    body: str | None = None


class Remarked(Comment):
    created_at: Moment
    updated_at: Moment
    issue_url: str
    html_url: str = ""

    @property
    def number(self) -> int:
        """The number of the issue or pull request; 0 if it cannot be read."""
        return _last_number(self.issue_url)

    @property
    def on_pull(self) -> bool:
        return "/pull/" in self.html_url


class Permission(Payload):
    permission: str = ""
    """GitHub reports maintainers as `write` here."""
    role_name: str = ""
    """Of a custom role its own name."""
    maintains: bool = at("user", "permissions", "maintain", default=False)
    """https://docs.github.com/rest/collaborators/collaborators"""


class Dispatched(Payload):
    workflow_run_id: int


class Repository(Payload):
    id: int = 0
    full_name: str
    default_branch: str = "main"
    private: bool = False


class Side(Payload):
    ref: str
    sha: str
    repo: Repository | None = None
    """Null: the fork was deleted."""


class Pull(_Authored):
    number: int
    title: str = ""
    state: str
    draft: bool = False
    head: Side
    base: Side
    merged_at: Moment | None = None
    merge_commit_sha: str | None = None
    """Of one that is not merged, the commit of a trial merge."""
    mergeable_state: str = "unknown"
    merged_by: Account | None = None


class Run(Payload):
    id: int
    status: str | None = None
    conclusion: str | None = None
    event: str = ""
    path: str = ""
    head_branch: str | None = None
    head_sha: str = ""
    display_title: str = ""
    run_attempt: int = 1
    check_suite_id: int = 0
    actor: Account | None = None
    html_url: str = ""

    @property
    def is_over(self) -> bool:
        return self.status == "completed"

    @property
    def file(self) -> str:
        return self.path.split("@", maxsplit=1)[0]


class Step(Payload):
    conclusion: str | None = None
    started_at: str | None = None
    completed_at: str | None = None


class Job(Payload):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    check_run_url: str | None = None
    steps: tuple[Step, ...] | None = None
    """None: the forge does not say."""

    @property
    def check_run(self) -> int:
        """The number of its check run, which is its own where the forge names none."""
        return _last_number(self.check_run_url or "") or self.id

    @property
    def is_kept_out(self) -> bool:
        """Whether no runner took it: a bill, or the rules of its environment."""
        return self.conclusion == "failure" and self.steps == ()


class Annotation(Payload):
    message: str | None = None


class PendingDeployment(Payload):
    reviewers: tuple[object, ...] = ()
    """Those of whom one must approve it; empty: a timer or another rule ends alone."""


class Artifact(Payload):
    id: int
    name: str
    expired: bool = False
    size_in_bytes: int = 0


class CheckOutput(Payload):
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations_count: int = 0


class App(Payload):
    slug: str | None = None
    id: int = 0


class Status(Payload):
    """A commit status: CI's, or one of brat's where check runs are not allowed."""

    id: int
    state: str
    context: str
    description: str | None = None
    target_url: str | None = None
    creator: Account | None = None


class CheckRun(Payload):
    id: int
    name: str
    status: str
    conclusion: str | None = None
    external_id: str | None = None
    app: App | None = None
    suite: int = at("check_suite", "id", default=0)
    output: CheckOutput = Field(default_factory=CheckOutput)


class Envelope(Payload):
    """The fields read from every webhook delivery: who did something where."""

    action: str = ""
    sender: Account | None = None
    repository: Repository | None = None


class Told(Payload):
    """An issue or a pull request, as a delivery tells it, or just opened."""

    number: int
    title: str = ""
    body: str | None = None
    pull_request: object | None = None


class Delivery(Envelope):
    issue: Told | None = None
    label: Label | None = None
    assignee: Account | None = None
    comment: Comment | None = None
    was: str = at("changes", "body", "from", default="")
    """The text before an edit."""


class Checked(Payload):
    external_id: str | None = None
    head_branch: str | None = None
    head_sha: str = ""
    app: App | None = None


class PressedButton(Payload):
    identifier: str = ""


class CheckDelivery(Envelope):
    check_run: Checked | None = None
    check_suite: Checked | None = None
    requested_action: PressedButton | None = None
    """The button of the check run that was pressed."""


class Reviewed(Payload):
    id: int
    node_id: str = ""
    user: Account | None = None
    state: str = ""
    body: str | None = None
    commit_id: str | None = None
    submitted_at: Moment | None = None


class Actor(Payload):
    kind: str = Field("", alias="__typename")
    login: str = ""


class ThreadComment(Payload):
    id: int = Field(alias="fullDatabaseId")
    body: str = ""
    author: Actor | None = None
    """None: the account was deleted."""
    mailed: bool = Field(default=False, alias="createdViaEmail")
    hunk: str = Field("", alias="diffHunk")
    review: int = at("pullRequestReview", "fullDatabaseId", default=0)

    @property
    def is_bots(self) -> bool:
        return self.author is not None and self.author.kind == "Bot"

    @property
    def by(self) -> str:
        """Its author as REST names it: GraphQL leaves a bot's `[bot]` out."""
        if self.author is None:
            return ""
        return self.author.login.removesuffix("[bot]") + "[bot]" * self.is_bots


class Thread(Payload):
    """The comments on one place of a change, oldest first."""

    id: str
    is_resolved: bool = Field(default=False, alias="isResolved")
    path: str = ""
    now_at: int | None = Field(None, alias="line")
    was_at: int | None = Field(None, alias="originalLine")
    comments: tuple[ThreadComment, ...] = at("comments", "nodes", default=())

    @property
    def line(self) -> int:
        """The line in the file; 0: the comment is on the whole file."""
        return self.now_at or self.was_at or 0


class Threads(Payload):
    threads: tuple[Thread, ...] = at(
        "repository", "pullRequest", "reviewThreads", "nodes", default=()
    )


class ReviewDelivery(Envelope):
    pull_request: Told | None = None
    review: Reviewed | None = None
