"""What a delivery means: what it asks for, and which part of the world to look at.

Pure. A delivery is a hint: what is true is asked of the forge and of the log.
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from dataclasses import dataclass
from typing import Final

from bot.inbox import Kept, Remark, Request
from bot.payloads import Delivery, Envelope
from bot.wake import Part

LOOK_AT: Final[dict[str, Part]] = {
    "issues": "issues",
    "issue_comment": "issues",
    "workflow_run": "runs",
    "workflow_job": "runs",
    "check_run": "checks",
    "check_suite": "checks",
    "status": "checks",
    "push": "refs",
}
ASKING: Final = frozenset({"issues", "issue_comment"})
"""Only these may ask for something."""
ROSTER: Final = frozenset({"installation", "installation_repositories", "repository"})
"""After these the bot may serve other repositories than before."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What is to be done about a delivery."""

    part: Part | None = None
    """What may have changed."""
    kept: Kept | None = None
    """What is frozen, as it was signed."""


def read(event: str, body: bytes) -> Envelope:
    """Return what a delivery says.

    Raises:
        ValidationError: it is none. One goes 200 levels deep at most.
    """
    model = Delivery if event in ASKING else Envelope
    return model.model_validate_json(body)


def meaning(event: str, delivery: Envelope, label: str) -> Meaning:
    """Return what a delivery about one of our repositories means.

    Args:
        event: the header X-GitHub-Event, whatever it holds.
        delivery: what `read` made of the body.
        label: the one that asks for a convoy.
    """
    kept: Kept | None = None
    if isinstance(delivery, Delivery):
        if event == "issues" and delivery.action == "labeled":
            kept = _labelled(delivery, label)
        elif event == "issue_comment" and delivery.action == "created":
            kept = _commented(delivery)  # an edit of a comment asks for nothing
    return Meaning(part=LOOK_AT.get(event), kept=kept)


def _labelled(delivery: Delivery, wanted: str) -> Request | None:
    issue, label, sender = delivery.issue, delivery.label, delivery.sender
    if issue is None or label is None or sender is None:
        return None
    if label.name != wanted or issue.pull_request is not None:
        return None
    text = issue.body or ""
    return Request(issue=issue.number, title=issue.title, text=text, by=sender.login)


def _commented(delivery: Delivery) -> Remark | None:
    """Return a comment that may hold commands; what a bot says is never one."""
    issue, comment, sender = delivery.issue, delivery.comment, delivery.sender
    if issue is None or comment is None or sender is None or sender.type == "Bot":
        return None
    text = comment.body or ""
    if not may_command(text):
        return None
    return Remark(
        issue=issue.number,
        comment=comment.id,
        text=text,
        by=sender.login,
        on_pull=issue.pull_request is not None,
        title=issue.title,
        body=issue.body or "",
    )


def may_command(text: str) -> bool:
    """Whether it is worth while to look for commands in a text."""
    return "/brat" in text.casefold()
