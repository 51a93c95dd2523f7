"""Refusals as data: which rule said no, whether it passes, and what would help.

A table says so by what forges and hooks write; the first row that fits counts, and each
row has its source. What they write is text of strangers: it is cleaned and cut here,
and escaped where it is shown.
"""

import re
from collections.abc import Sequence
from typing import Final

from msgspec import Struct

from bot.forge.rest import Refused
from convoy.text import clean, cut, shortened


class RefusalRow(Struct, frozen=True):
    rule: str
    """Its stable name."""
    says: str
    """A pattern of what forges and git say; empty: only a status means it."""
    whose: str
    """The rule or the right that stands against it."""
    helps: str
    """What a person can do: one sentence."""
    passing: bool = False
    """Whether it may go away by itself."""
    pushes: bool = True
    """Whether a push can be refused so."""
    statuses: frozenset[int] = frozenset()
    """HTTP statuses that mean this where no row's pattern fits."""

    def fits(self, said: str) -> bool:
        return bool(self.says) and re.search(self.says, said, re.IGNORECASE) is not None


def _statuses(*statuses: int) -> frozenset[int]:
    return frozenset(statuses)


ROWS: Final = (
    RefusalRow(
        "secret-found",
        r"push protection|cannot contain secrets",
        "the forge's push protection for secrets",
        "Take the secret out of the commits and revoke it, or allow it on the page "
        "that the forge names.",
    ),
    RefusalRow(
        "workflows-right",
        r"without `?workflows?`? (?:permission|scope)",
        "the App's permission workflows: write",
        "Give the App the permission workflows: write, or keep the change out of "
        ".github/workflows.",
    ),
    RefusalRow(
        "file-too-large",
        r"GH001|large files detected|file size limit|maximum allowed size"
        r"|(?:file|pack)\b.* too large|answers more than|HTTP 413|error: 413",
        "the forge's limit for sizes",
        "Keep the large file out of the commits, or raise the limit if the server is "
        "yours.",
        statuses=_statuses(413),
    ),
    RefusalRow(
        "archived",
        r"\barchived\b",
        "the repository, which is archived",
        "Unarchive the repository, or uninstall the bot from it.",
    ),
    RefusalRow(
        "suspended",
        r"has been suspended|account is (?:suspended|disabled)"
        r"|access blocked|repository .*disabled",
        "the App's installation or its owner's account",
        "Lift the suspension in the settings of the installation or the account.",
        statuses=_statuses(451),
    ),
    RefusalRow(
        "locked",
        r"(?:issue|conversation|pull request) (?:is|was) locked|locked issue",
        "the conversation, which is locked",
        "Unlock the conversation.",
        statuses=_statuses(423),
        pushes=False,
    ),
    RefusalRow(
        "issues-disabled",
        r"issues (?:are|is|has been) disabled",
        "the repository's setting for issues",
        "Turn issues on in the repository's settings.",
        pushes=False,
    ),
    RefusalRow(
        "pull-request-setting",
        r"not permitted to create or approve pull requests",
        "the repository's setting for pull requests of GitHub Actions",
        "Allow GitHub Actions to create and approve pull requests under Settings, "
        "Actions, General; `brat setup` does it.",
        pushes=False,
    ),
    RefusalRow(
        "not-mergeable",
        r"required status check|(?:review|approval)s? (?:is|are) required"
        r"|enough approvals"
        r"|requested changes|branch was modified|out of date|try again later"
        r"|behind the base|not mergeable|work in progress",
        "what the branch asks for before a merge",
        "Give the pull request what the forge names: a review, a green check or its "
        "base's newest commit.",
        passing=True,
        statuses=_statuses(405),
        pushes=False,
    ),
    RefusalRow(
        "queue-wanted",
        r"made through the merge queue",
        "the forge's merge queue for the branch",
        "Nothing is needed: the convoy goes through the queue.",
    ),
    RefusalRow(
        "signature-wanted",
        r"must have (?:a )?verified signature",
        "the branch's rule that commits are signed",
        "Except the bot's branches from the rule: the forge signs only what it merges.",
    ),
    RefusalRow(
        "checks-awaited",  # and nothing else stands against it
        r"^(?!.*(?:\bmust\b|\bcannot\b|review|failing)).*required status check",
        "the checks that the branch requires",
        "Wait until they have reported; if they never do, let CI run on pushes to "
        "brat/queue/**.",
        passing=True,
    ),
    RefusalRow(
        "rule-violation",
        r"GH013|repository rule violation|repository rule",
        "a ruleset of the repository",
        "Let the App bypass the ruleset, or except the bot's branches from it.",
    ),
    RefusalRow(
        "protected-branch",
        r"GH006|protected branch|is protected from|default branch"
        r"|cannot commit to repo|allowed to merge|allowed merge style"
        r"|made through a pull request",
        "the protection of the branch",
        "Let the App push to the branch, or change what its protection covers.",
    ),
    RefusalRow(
        "limited",
        r"rate limit|abuse detection",
        "the forge's limit for requests",
        "Wait: it is tried again later.",
        passing=True,
        statuses=_statuses(429),
        pushes=False,
    ),
    RefusalRow(
        "workflow-disabled",
        r"disabled workflow|workflow is disabled|have '?workflow_dispatch"
        r"|actions (?:is|are|has been) disabled",
        "the workflow's own settings",
        "Enable the workflow, and let it be started by workflow_dispatch.",
        pushes=False,
    ),
    RefusalRow(
        "missing-permission",
        r"not accessible by|permission denied|permission to \S+ denied"
        r"|permission to write|write permission|required scope|owner or a collaborator"
        r"|must be a collaborator|owner of the repo|admin rights"
        r"|not granted|\bforbidden\b|you are not allowed|you don't have permission",
        "a permission of the App",
        "Give the App the permission, and accept it where the App is installed.",
    ),
    RefusalRow(
        "directory-conflict",
        r"exists; cannot create|cannot process '|refname conflict",
        "the name of another branch",
        "Rename or delete the branch whose name stands in the way.",
    ),
    RefusalRow(
        "history-kept",
        r"non-fast-forward|deletion prohibited|denying ref deletion",
        "the server's receive.denyNonFastForwards or receive.denyDeletes",
        "Let the server take forced pushes and deletions of the bot's branches.",
    ),
    RefusalRow(
        "hook",
        r"hook declined|aborted by (?:the )?hook",
        "a hook of the server",
        "Ask who runs the server for what the hook wants.",
    ),
    RefusalRow(
        "server-trouble",
        r"unpacker error|failed to (?:update ref|lock)|no space left"
        r"|transaction failed",
        "the server itself",
        "Look into the server's log if it does not pass.",
        passing=True,
    ),
    RefusalRow(
        "gone",
        r"\bwas deleted\b",
        "its deletion",
        "Nothing is needed: what was deleted is left alone.",
        statuses=_statuses(410),
        pushes=False,
    ),
    RefusalRow(
        "moved",
        r"moved permanently",
        "its transfer to another place",
        "Install the App where it is now, or ask for it there again.",
        statuses=_statuses(301, 302, 307, 308),
        pushes=False,
    ),
    RefusalRow(
        "unauthorized",
        r"bad credentials|failed to authenticate|authentication failed",
        "the bot's token or key",
        "Check the App's id and private key, or the token.",
        passing=True,
        statuses=_statuses(401),
        pushes=False,
    ),
    RefusalRow(
        "not-found",
        r"\bnot found\b",
        "what is not there, or not shown to the App",
        "Look whether it still exists, and whether the App is installed on it.",
        statuses=_statuses(404),
    ),
    RefusalRow(
        "forbidden",
        "",
        "a permission of the App, or a rule of the forge",
        "Look at the App's permissions, and accept new ones where it is installed.",
        statuses=_statuses(403),
    ),
    RefusalRow(
        "conflict",
        "",
        "its present state",
        "Look at it on the forge: something else changed it.",
        passing=True,
        statuses=_statuses(409, 412),
    ),
    RefusalRow(
        "validation",
        "",
        "what the forge takes there",
        "Change what the forge names; report it to brat where brat wrote it.",
        statuses=_statuses(400, 406, 415, 422),
    ),
)

UNKNOWN: Final = RefusalRow(
    "unknown",
    "",
    "a rule that brat does not know",
    "Look at what the forge says.",
)


SAID_CHARS: Final = 300
ASKED_CHARS: Final = 120
_NOUNS: Final = (
    (r"POST \S*/issues/(\d+)/comments$", "a comment on issue {}"),
    (r"(?:PATCH|PUT) \S*/issues/comments/\d+$", "the change of a comment"),
    (r"POST \S*/(?:reactions)$", "a reaction"),
    (r"(?:POST|PUT|DELETE) \S*/issues/(\d+)/labels\S*$", "the labels of issue {}"),
    (r"(?:POST|DELETE) \S*/issues/(\d+)/assignees$", "the assignees of issue {}"),
    (r"PATCH \S*/issues/(\d+)$", "the change of issue {}"),
    (r"GET \S*/issues/(\d+)(?:[/?]\S*)?$", "a look at issue {}"),
    (r"PUT \S*/pulls/(\d+)/merge$", "the merge of pull request {}"),
    (r"PATCH \S*/pulls/(\d+)$", "the change of pull request {}"),
    (r"POST \S*/pulls$", "a new pull request"),
    (r"POST \S*/actions/workflows/([\w.-]+)/dispatches$", "the start of {}"),
    (r"POST \S*/actions/runs/(\d+)/\S+$", "the end of run {}"),
    (r"(?:POST|PATCH) \S*/(?:check-runs\S*|statuses/\w+)$", "a check"),
    (r"GET \S*/actions/artifacts/(\d+)/zip$", "the download of artifact {}"),
    (r"POST \S*/access_tokens$", "a token for the App"),
)
"""What a request asks for, in people's words."""


class ForgeRefusal(Struct, frozen=True):
    rule: str
    """A stable name, such as `protected-branch`; `ROWS` has all."""
    passing: bool
    """Whether it may go away by itself."""
    whose: str
    """The rule or the right that stands against it."""
    helps: str
    """What a person can do: one sentence."""
    why: str
    """What was refused and what the forge said, for people: plain text, bounded."""


def refusal_of_rest(error: Refused) -> ForgeRefusal:
    said = " ".join((error.said, *(each for each in error.errors if each)))
    row = _row(ROWS, said, error.status)
    told = said.strip() or f"status {error.status}"
    if row.rule in {"missing-permission", "forbidden"} and error.needs:
        row = _needing(row, error.needs)
    return _refusal(row, f"the forge refused {_asked(error.what)}", told)


def refusal_of_push(said: str, ref: str) -> ForgeRefusal:
    """Return what a refused ref came to; `ref` is empty for a push refused as a whole.

    `said` is what the server said of it; see `grite.push_answer`.
    """
    branch = ref.removeprefix("refs/heads/")
    noun = "branch " if branch != ref else ""
    what = f"the push of {noun}{branch}" if ref else "the push"
    found = re.search(r"(?:returned error:|HTTP) (4\d\d)", said)  # a whole request's
    status = int(found[1]) if found else 0
    row = _row([row for row in ROWS if row.pushes], said, status)
    told = said.strip() or "nothing"
    return _refusal(row, f"the forge refused {what}", told)


def _row(rows: Sequence[RefusalRow], said: str, status: int) -> RefusalRow:
    by_text = (row for row in rows if row.fits(said))
    by_status = (row for row in rows if status in row.statuses)
    return next(by_text, None) or next(by_status, UNKNOWN)


def _refusal(row: RefusalRow, what: str, said: str) -> ForgeRefusal:
    why = f"{what}: {shortened(' '.join(clean(said).split()), SAID_CHARS)}"
    return ForgeRefusal(row.rule, row.passing, row.whose, row.helps, why)


def _needing(row: RefusalRow, needs: str) -> RefusalRow:
    """Return the row with the permissions that a forge names in a header.

    One of several sets is enough: `issues=write; pull_requests=write,contents=read`.
    https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api
    """
    sets = [
        " and ".join(f"{name}: {kind}" for name, kind in pairs)
        for each in needs[:SAID_CHARS].split(";")
        if (pairs := re.findall(r"([a-z_]+)=([a-z]+)", each))
    ]
    if not sets:
        return row
    asked = " or ".join(sets)
    return RefusalRow(
        "missing-permission",
        row.says,
        f"the App's permission {asked}",
        f"Give the App the permission {asked}, and accept it where it is installed.",
    )


def _asked(what: str) -> str:
    path = what.partition("?")[0]
    for pattern, noun in _NOUNS:
        if found := re.fullmatch(pattern, path):
            return noun.format(*found.groups())
    return cut(" ".join(clean(path).split()), ASKED_CHARS)
