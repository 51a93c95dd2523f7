"""What people are told of the way a convoy lands: one sentence each. Pure."""

from convoy.model.state import Convoy
from convoy.model.target_rules import Landing
from convoy.readiness.landing_way import wanted
from convoy.text.counts_and_times import counted


def way_of_landing(landing: Landing, target: str) -> str:
    """Return how a convoy will land on the branch `target`, in one sentence."""
    said = {
        "push": f"It lands by a push that moves {target} to the commit CI judged",
        "merge": f"It lands by the forge's {landing.method} of its pull request",
        "queue": f"It lands through the forge's merge queue of {target}",
        "person": f"The rules of {target} let only a person merge its pull request",
    }[landing.way]
    after = ", ".join(wanted(landing))
    return f"{said}, after {after}." if after else f"{said}."


def about_parts(convoy: Convoy) -> str:
    """Return what has landed before the rest, and when more does; empty: nothing."""
    return " ".join(filter(None, (_landed_so_far(convoy), _more(convoy))))


def _landed_so_far(convoy: Convoy) -> str:
    there = len(convoy.parts.tasks)
    if not there or convoy.state == "complete":
        return ""
    wanted = [t for t in convoy.tasks if convoy.ended or t.state != "dropped"]
    have = "has" if there == 1 else "have"
    tasks = counted(len(wanted), "task")
    return f"{there} of {tasks} {have} landed on {convoy.target}."


def _more(convoy: Convoy) -> str:
    parts = convoy.parts
    if convoy.ended or convoy.settled:
        return ""
    if parts.left:
        return f"What is finished could not land without the rest: {parts.why}."
    if parts.asked_by:
        return f"What is finished lands now, as {parts.asked_by} asked."
    lands = convoy.settings.land == "parts"
    return "What is finished lands while other tasks go on." if lands else ""


def landing_document(convoy: Convoy) -> dict[str, str] | None:
    """Return what `--json` says of a convoy's landing; None: it is not known yet."""
    landing = convoy.landing
    if landing is None:
        return None
    told = (way_of_landing(landing, convoy.target), unread(landing))
    said = " ".join(filter(None, told))
    return {"way": landing.way, "said": said, "waits_for": convoy.landing_waits}


def unread(landing: Landing) -> str:
    """Return what the bot could not read of the target's rules; empty: nothing."""
    what = " and ".join(landing.unknown)
    return f"The bot may not read {what}; a refusal would tell it." if what else ""
