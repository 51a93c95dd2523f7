"""Interprets a delivery: its request, and the part of the world to look at.

Pure. A delivery is only a hint: the forge and the log say what is true.
https://docs.github.com/webhooks/webhook-events-and-payloads
"""

from dataclasses import dataclass
from typing import Final, get_args

from msgspec.structs import replace

from bot.door import inbox
from bot.forge.payloads import (
    Account,
    App,
    CheckDelivery,
    Checked,
    Comment,
    Delivery,
    Envelope,
    Issue,
    PressedButton,
    ReviewDelivery,
    Reviewed,
    Told,
)
from bot.text.slash_commands import may_mention, ticked_in
from convoy.model import ids

LOOK_AT: Final[dict[str, inbox.WorldPart]] = {
    "issues": "issues",
    "sub_issues": "issues",
    "issue_dependencies": "issues",
    "issue_comment": "comments",
    "workflow_run": "runs",
    "workflow_job": "runs",
    "check_run": "checks",
    "check_suite": "checks",
    "status": "checks",
    "push": "refs",
    "pull_request": "pulls",
    "pull_request_review": "comments",
    "pull_request_review_comment": "comments",
    "repository": "rights",
    "repository_ruleset": "rights",
    "branch_protection_rule": "rights",
    "branch_protection_configuration": "rights",
}
ASKING: Final[dict[str, type[Envelope]]] = {
    "issues": Delivery,
    "issue_comment": Delivery,
    "pull_request_review": ReviewDelivery,
    "check_run": CheckDelivery,
    "check_suite": CheckDelivery,
}
"""The only events that may hold a request."""
_VERDICTS: Final[dict[str, inbox.ReviewVerdict]] = {
    verdict: verdict for verdict in get_args(inbox.ReviewVerdict)
}
_COMMAND: Final = "/brat"
_TURNS: Final = frozenset({"closed", "reopened", "deleted", "transferred"})
"""What a person does even where the bot has that person's own token."""
ROSTER: Final = frozenset({"installation", "installation_repositories", "repository"})
"""After these the bot may serve other repositories than before."""


@dataclass(frozen=True, kw_only=True)
class Meaning:
    part: inbox.WorldPart | None = None
    kept: inbox.Kept | None = None
    """The request to keep, with the text as it was signed."""


def read_delivery(event: str, body: bytes | bytearray) -> Envelope:
    """Return a delivery's content.

    Raises:
        ValidationError: the body is no delivery, or has over 200 nested levels.
    """
    return ASKING.get(event, Envelope).model_validate_json(body)


def meaning(event: str, delivery: Envelope, label: str, login: str) -> Meaning:
    """Return what a delivery means; the bot's own acts, as `login`, ask for nothing."""
    sender = delivery.sender
    own = sender is not None and sender.login == login
    kept = None if own else _kept(event, delivery, label, login)
    part = LOOK_AT.get(event)
    if part in ("issues", "pulls") and own and delivery.action not in _TURNS:
        part = "comments"  # it need not look at what it did itself
    match delivery:
        case Delivery(action="deleted", comment=Comment() as comment) if not own:
            part = "shown" if comment.is_by(login) else part
        case CheckDelivery(check_run=Checked(app=App(slug=slug))) if own:
            # Its own checks judge nothing; CI's may be told of as done by it, too.
            part = "comments" if f"{slug}[bot]" == login else part
    return Meaning(part=part, kept=kept)


def _kept(event: str, delivery: Envelope, label: str, login: str) -> inbox.Kept | None:
    match delivery:
        case ReviewDelivery(
            action="submitted", pull_request=Told() as pull, review=Reviewed() as review
        ):
            # Of Copilot the sender has another name, which only deliveries tell.
            return reviewed(pull.number, review, review.user or delivery.sender)
        case CheckDelivery():
            return _check_action(delivery)
        case Delivery() if event == "issues":
            return _asked(delivery, label, login)
        case Delivery(
            issue=Told() as issue, comment=Comment() as comment, sender=Account() as by
        ) if by.type != "Bot":
            text = comment.body or ""
            if delivery.action == "created" and may_ask(text, login):
                return inbox.Remark(
                    issue=issue.number,
                    comment=comment.id,
                    text=text,
                    by=by.login,
                    on_pull=issue.pull_request is not None,
                    title=issue.title,
                    body=issue.body or "",
                    node=comment.node_id,
                )
            if delivery.action == "edited" and comment.is_by(login):
                new = ticked_in(text) - ticked_in(delivery.was)
                about = {"issue": issue.number, "comment": comment.id}
                boxes = tuple(sorted(new))
                return inbox.Ticked(**about, boxes=boxes, by=by.login) if new else None
    return None  # no other edit asks for anything


def _asked(delivery: Delivery, label: str, login: str) -> inbox.StartRequest | None:
    issue, sender = delivery.issue, delivery.sender
    named, assignee = delivery.label, delivery.assignee
    if issue is None or issue.pull_request is not None or sender is None:
        return None
    trigger: inbox.Trigger
    match delivery.action:
        case "labeled" if named is not None and named.name == label:
            trigger = "label"
        case "opened" if may_mention(issue.body or "", login):
            trigger = "mention"
        case "assigned" if assignee is not None and assignee.login == login:
            trigger = "assignee"
        case _:
            return None
    return start_request(issue, trigger, sender)


def start_request(
    issue: Told | Issue, trigger: inbox.Trigger, by: Account, *, edited: bool = False
) -> inbox.StartRequest:
    return inbox.StartRequest(
        issue=issue.number,
        title=issue.title,
        text=issue.body or "",
        by=by.login,
        bot=by.id if by.type == "Bot" else 0,
        trigger=trigger,
        edited=edited,
    )


def _check_action(delivery: CheckDelivery) -> inbox.CheckAction | None:
    """Return what somebody wants who pressed "Re-run" or a button on the bot's check.

    Only the App that made a check is told of this.
    https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
    """
    run, suite, sender = delivery.check_run, delivery.check_suite, delivery.sender
    found = ids.checked_task((run and run.external_id) or "")
    if run is None and suite is not None:
        found = ids.task_of_branch(suite.head_branch or "")
    if found is None or sender is None or sender.type == "Bot":
        return None
    again = inbox.CheckAction(convoy=found[0], task=found[1], by=sender.login)
    match delivery.action, delivery.requested_action:
        case "rerequested", _:
            return again
        case "requested_action", PressedButton(identifier=verb) if run is not None:
            return replace(again, verb=verb, commit=run.head_sha)
    return None


def reviewed(pull: int, found: Reviewed, by: Account | None) -> inbox.Review | None:
    """Return a review that may ask for something; None: it is a draft or dismissed.

    What it says of lines is no part of it: whoever answers it asks for that.
    """
    verdict = _VERDICTS.get(found.state.casefold())
    if verdict is None or by is None:
        return None
    return inbox.Review(
        pull=pull,
        review=found.id,
        verdict=verdict,
        commit=found.commit_id or "",
        text=found.body or "",
        by=by.login,
        node=found.node_id,
        bot=by.type == "Bot",
    )


def may_ask(text: str, login: str) -> bool:
    return _COMMAND in text.casefold() or may_mention(text, login)
