"""What the log says of actions on the forge: who reads it need not know keys."""

from convoy.events.forge_actions import did, will_do
from convoy.model import ids
from tests.world.cases import looped


@looped(
    (
        *(ids.dispatch_key("fix-7/2/1"), 918),
        "Will start attempt 1 at task 2 in fix-7.",
        "Started attempt 1 at task 2 in fix-7: run 918.",
    ),
    (
        *(ids.dispatch_key("fix-7/0/1"), 0),
        "Will start attempt 1 at the plan of fix-7.",
        "Started attempt 1 at the plan of fix-7.",
    ),
    (
        *(ids.pull_key("fix-7", 0), 9),
        "Will open the pull request for fix-7.",
        "Opened the pull request for fix-7: #9.",
    ),
    (
        "notify:fix-7/completion",
        0,
        "Will send a notification about fix-7.",
        "Sent a notification about fix-7.",
    ),
    (ids.answer_key(12), 13, "Will answer comment 12.", "Answered comment 12."),
    (ids.sign_key("review", "4"), 13, "Will answer a review.", "Answered a review."),
    ("strange", 0, "Will do strange.", "Did strange."),
)
def test_an_action_is_told_in_words(
    key: str, number: int, before: str, after: str
) -> None:
    assert (will_do(key), did(key, number)) == (before, after)
