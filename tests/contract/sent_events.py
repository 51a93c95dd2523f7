"""The events that the forge sends. tests/forge/test_payloads.py makes it send each."""

from typing import Final

_ACTIONS: Final = {
    "check_run": ("completed", "created", "requested_action"),
    "issue_comment": ("created", "deleted", "edited"),
    "issue_dependencies": ("blocked_by_added",),
    "issues": (
        *("assigned", "closed", "deleted", "edited", "labeled", "opened", "reopened"),
        *("transferred", "unassigned", "unlabeled"),
    ),
    "pull_request": (
        *("assigned", "closed", "converted_to_draft", "dequeued", "edited", "enqueued"),
        *("labeled", "opened", "ready_for_review", "reopened", "synchronize"),
        *("unassigned", "unlabeled"),
    ),
    "pull_request_review": ("dismissed", "submitted"),
    "pull_request_review_comment": ("created",),
    "sub_issues": ("sub_issue_added", "sub_issue_removed"),
    "workflow_job": ("completed", "in_progress", "queued"),
    "workflow_run": ("completed", "in_progress", "requested"),
}
SENT: Final = frozenset({"push", "status"}).union(
    f"{event}.{action}" for event, actions in _ACTIONS.items() for action in actions
)
