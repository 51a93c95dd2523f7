"""What a delivery means: what it asks for, and which part of the world to look at.

Pure. A delivery is a hint: what is true is asked of the forge and of the log.
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from dataclasses import dataclass
from typing import Final

from bot.door.inbox import Kept, Remark, Request, Review, Ticked, Trigger, Verdict
from bot.forge.payloads import Account, Delivery, Envelope, ReviewDelivery, Reviewed
from bot.orders import boxes
from bot.speech.mention import may_mention
from bot.wake import Part

LOOK_AT: Final[dict[str, Part]] = {
    "issues": "issues",
    "issue_comment": "comments",
    "workflow_run": "runs",
    "workflow_job": "runs",
    "check_run": "checks",
    "check_suite": "checks",
    "status": "checks",
    "push": "refs",
    "pull_request": "issues",
    "pull_request_review": "comments",
}
ASKING: Final[dict[str, type[Envelope]]] = {
    "issues": Delivery,
    "issue_comment": Delivery,
    "pull_request_review": ReviewDelivery,
}
"""Only these may ask for something."""
_VERDICTS: Final[dict[str, Verdict]] = {
    "approved": "approved",
    "changes_requested": "changes_requested",
}
_COMMAND: Final = "/brat"
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
    return ASKING.get(event, Envelope).model_validate_json(body)


def meaning(event: str, delivery: Envelope, label: str, login: str) -> Meaning:
    """Return what a delivery about one of our repositories means.

    Args:
        event: the header X-GitHub-Event, whatever it holds.
        delivery: what `read` made of the body.
        label: the one that asks for a convoy.
        login: who the bot is; what it does itself asks for nothing.
    """
    kept: Kept | None = None
    sender = delivery.sender
    own = sender is not None and sender.login == login
    if isinstance(delivery, Delivery) and not own:
        if event == "issues":
            kept = _asked(delivery, label, login)
        elif event == "issue_comment" and delivery.action == "created":
            kept = _commented(delivery, login)
        elif event == "issue_comment" and delivery.action == "edited":
            kept = _ticked(delivery, login)  # no other edit asks for anything
    if isinstance(delivery, ReviewDelivery) and not own:
        kept = _reviewed(delivery)
    part = LOOK_AT.get(event)
    if part == "issues" and own:
        part = "comments"  # the labels that it set itself it need not look at
    return Meaning(part=part, kept=kept)


def _asked(delivery: Delivery, label: str, login: str) -> Request | None:
    """Return what was done to an issue, if it may ask for a convoy."""
    issue, sender = delivery.issue, delivery.sender
    trigger = _trigger(delivery, label, login)
    if trigger is None or issue is None or sender is None:
        return None
    return Request(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=sender.login,
        bot=sender.id if sender.type == "Bot" else 0,
        trigger=trigger,
    )


def _trigger(delivery: Delivery, label: str, login: str) -> Trigger | None:
    issue, named, assignee = delivery.issue, delivery.label, delivery.assignee
    if issue is None or issue.pull_request is not None:
        return None
    match delivery.action:
        case "labeled" if named is not None and named.name == label:
            return "label"
        case "opened" if may_mention(issue.body or "", login):
            return "mention"
        case "assigned" if assignee is not None and assignee.login == login:
            return "assignee"
        case _:
            return None


def _commented(delivery: Delivery, login: str) -> Remark | None:
    """Return a comment that may ask for something; what a bot says never does."""
    issue, comment, sender = delivery.issue, delivery.comment, delivery.sender
    if issue is None or comment is None or sender is None or sender.type == "Bot":
        return None
    text = comment.body or ""
    if not may_ask(text, login):
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


def _ticked(delivery: Delivery, login: str) -> Ticked | None:
    """Return which boxes a person ticked in a comment of the bot's own."""
    issue, comment, sender = delivery.issue, delivery.comment, delivery.sender
    if issue is None or comment is None or sender is None or sender.type == "Bot":
        return None
    if comment.user is None or comment.user.login != login:
        return None
    before = delivery.changes.body.was if delivery.changes else ""
    new = boxes.ticked_in(comment.body or "") - boxes.ticked_in(before)
    if not new:
        return None
    return Ticked(
        issue=issue.number,
        comment=comment.id,
        boxes=tuple(sorted(new)),
        by=sender.login,
    )


def _reviewed(delivery: ReviewDelivery) -> Review | None:
    """Return a person's verdict on a pull request."""
    pull, review = delivery.pull_request, delivery.review
    if pull is None or review is None or delivery.action != "submitted":
        return None
    return reviewed(pull.number, review, delivery.sender)


def reviewed(pull: int, found: Reviewed, by: Account | None) -> Review | None:
    """Return what a review asks for; None: nothing, or no person wrote it."""
    verdict = _verdict(found)
    if verdict is None or by is None or by.type == "Bot":
        return None
    return Review(
        pull=pull,
        review=found.id,
        verdict=verdict,
        commit=found.commit_id or "",
        text=found.body or "",
        by=by.login,
    )


def _verdict(found: Reviewed) -> Verdict | None:
    state = found.state.casefold()
    if state == "commented" and _COMMAND in (found.body or "").casefold():
        return "commented"
    return _VERDICTS.get(state)


def may_ask(text: str, login: str) -> bool:
    """Whether it is worth while to look for commands or a mention in a comment."""
    return _COMMAND in text.casefold() or may_mention(text, login)
