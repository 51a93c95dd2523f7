"""The bot's replies: to one request, to a comment, and why nothing starts or stands."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from bot.text.visible_text import code_span
from convoy.model.records import Reaction
from convoy.text import clock, full_stop, posted

ANSWER_CUT: Final = (
    "The rest of this answer does not fit in one comment. Ask for one thing at a "
    "time, or use `brat status`."
)


class Reply(Struct, frozen=True):
    reaction: Reaction
    text: str
    why: str = ""
    """Why the request was refused, as the end of a sentence; empty: it was not."""
    asks: bool = False
    """Whether the text is what was asked for, and nothing was changed."""
    brief: str = ""
    """What is said instead in the convoy's comment, where that shows it all."""


def refused(why: str) -> Reply:
    return Reply("confused", f"That cannot be done: {why.rstrip('.')}.", why)


def denied(verb: str, right: str) -> Reply:
    why = f"`{verb}` requires {right} access to this repository"
    return Reply("-1", f"{why}.", why)


def malformed(why: str) -> Reply:
    return Reply("confused", full_stop(f"{why[:1].upper()}{why[1:]}"))


MAILED: Final = refused(
    "commands sent by email are not accepted, because the sender can be forged; "
    "comment on the forge's website instead"
)


def unlisted(bot: str) -> str:
    return (
        f"brat ignores reviews by {code_span(bot)}. To let agents answer them, list "
        "the bot under `[review] bots` in `.brat/config.toml` on the default branch."
    )


def of_thread(said: str, *, is_done: bool) -> str:
    """Return the answer in a review thread: the commit, or why it was not followed."""
    return f"Done in {said}." if is_done else f"Not changed: {code_span(said, 400)}"


def enough(by: str, again_at: int) -> str:
    return (
        f"@{by} You have reached brat's hourly limit. brat did not carry out this "
        f"request and ignores new ones until {clock(again_at)}. Try again then."
    )


def reaction(given: Sequence[Reply]) -> Reaction:
    """Return the one reaction to a comment: the worst of its commands' reactions."""
    order: tuple[Reaction, ...] = ("-1", "confused", "rocket")
    all_given = {reply.reaction for reply in given}
    return next((each for each in order if each in all_given), "")


def text(by: str, given: Sequence[Reply]) -> str:
    """Return the one reply to a comment; it mentions its author, if one is named."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    called = f"@{by} " if by else ""
    return posted(f"{called}{said}", ANSWER_CUT) if said else ""


def brief_text(given: Sequence[Reply]) -> str:
    """Return the same for the convoy's comment, which mentions nobody."""
    said = (reply.brief or reply.text for reply in given)
    return "\n\n".join(filter(None, said)).replace("@", "@\u200b")


OUTSIDER: Final = (
    "The issue was written by someone without write access. In a public "
    "repository, agents do not receive such text. Open an issue in your own words, "
    "or comment `/brat start -- what to do`. To allow everyone's text, set "
    "`outsiders = true` under `[trust]` in `.brat/config.toml`."
)
EDITED_ISSUE: Final = (
    "The issue may have been edited after it was labelled. Read it again, then set "
    "the label again."
)
EDITED_SINCE_SAID: Final = (
    "the issue may have been edited after the comment was written; read it again, "
    "then repeat the command"
)
EDITED_COMMENT: Final = (
    "@{by} This comment was edited before brat read it, so nothing was done. Repeat "
    "it in a new comment."
)
EMPTY_REPOSITORY: Final = (
    "The repository is empty. Push an initial commit, then add the label again."
)
NO_RIGHT: Final = (
    "@{by} You cannot start a convoy without write access to this repository."
)
BOT_STOPPED: Final = "The bot's operator has stopped it. Set the label again later."
MORE_FAULTS: Final = "`brat config check` lists the other faults."
NO_PLAN: Final = "The issue cannot be planned as written: {error}."
TAKEN: Final = (
    "Task {task} of #{issue} already covers this issue. To give the issue a convoy of "
    "its own, say `/brat drop {task}` on #{issue}, then add the label here again."
)
BLOCKED: Final = (
    "This issue is blocked by {blockers}. Close what blocks it or remove the "
    "dependency, then add the label again."
)
ASKED_ABOVE: Final = "The issue lacks details. Answer the questions above."
BAD_CONFIGURATION: Final = "The configuration is not valid: {error}"


def questions_text(by: str, questions: Iterable[str]) -> str:
    listed = "\n".join(f"{at}. {each}" for at, each in enumerate(questions, 1))
    return (
        f"@{by} An agent needs more details to start:\n\n{listed}\n\nAnswer with "
        "`/brat start -- ` and your text, or add the answers to the issue and set "
        "the label again. `/brat start -- as it is` starts without an answer."
    )


NO_REVIEW: Final = "the review is no longer on the forge"
NO_COMMENT: Final = "the comment is no longer on the forge"
DISMISSED_REVIEW: Final = "the review was dismissed"
NOT_THE_PLAN: Final = "the comment does not approve the plan"
NOT_THIS_COMMIT: Final = "the comment or review does not approve this commit"
EDITED_APPROVAL: Final = "the comment has been edited"
OLDER_APPROVAL: Final = "the approval is older than this work"
APPROVAL_TAKEN_BACK: Final = "a newer review requests changes"
