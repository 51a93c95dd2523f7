"""The bot's unasked warnings: lost rights, pauses, missing keys."""

from collections.abc import Mapping, Sequence

from bot.forge.ci_exposure import Exposure
from bot.markdown.code_span import code_span
from convoy.text import inline, posted


def unvouched(by: str) -> str:
    """Say that nobody answers for the convoy."""
    return (
        f"@{by} may not write to this repository any more, so nothing new starts in "
        "this convoy. Somebody who may lets it go on with `/brat resume`."
    )


def plan_unapproved(by: str, why: str) -> str:
    """Say that the approval of the plan is gone before something starts."""
    return (
        f"@{by}'s approval of the plan does not stand any more: {why}. So nothing new "
        "starts in this convoy; somebody who may write lets it go on with "
        "`/brat resume`."
    )


def plan_unapproved_at_landing(by: str, why: str) -> str:
    """Say that the approval of the plan is gone before the convoy lands."""
    return (
        f"@{by}'s approval of the plan does not stand any more: {why}. So this does "
        "not land; somebody who may puts it back with `/brat merge` on its pull "
        "request."
    )


def stopped_all(by: str, why: str) -> str:
    """Say that every convoy pauses, and why."""
    return f"@{by} Every convoy of this repository pauses: {why}."


def log_refused(why: str, helps: str) -> str:
    """Say that nothing can go on: the forge refuses what the bot writes down."""
    return (
        "Nothing can start or land in this repository: the forge refuses the log in "
        f"`refs/grite/wal`, where the bot writes down all that it does. {inline(why)}. "
        f"{inline(helps)} It is tried again each minute, and goes on by itself."
    )


def changes_ci(files: Sequence[str]) -> str:
    """Say that what is to land changes what judges it."""
    named = ", ".join(code_span(path) for path in files[:5])
    return (
        f"This changes what CI runs, so that CI's word on it is not enough: {named}. "
        "It is taken out of the merge queue. Somebody who has looked at these files "
        "puts it back with `/brat merge` on its pull request."
    )


def unanswered_for(by: str) -> str:
    """Say that nobody answers for the landing."""
    return (
        f"@{by} may not have this merged any more, so it is taken out of the merge "
        "queue. Somebody who may puts it back with `/brat merge` on its pull request."
    )


def exposed(found: Sequence[Exposure]) -> str:
    """Say what agents' code can reach by this repository's workflows."""
    listed = "\n".join(f"- {inline(f'{one.said}: {one.mend}')}" for one in found)
    said = (
        "CI runs what agents write on `brat/queue/**` and `convoy/**`, and GitHub "
        "trusts these branches. Treat an agent's commit like a fork's pull request: no "
        "secrets, and a token that only reads.\n\n"
        f"{listed}"
    )
    return posted(said, "There is more: `brat doctor --github` lists it all.")


def unstarted(fault: str) -> str:
    """Say why CI starts on nothing that brat builds."""
    return (
        f"CI will not start on what is built here, so nothing lands: {inline(fault)}. "
        "GitHub starts no workflow for what a job pushes: brat dispatches the file "
        "that the variable `BRAT_CI_WORKFLOW` names, and it needs the trigger "
        "`workflow_dispatch`."
    )


def hindered(found: Sequence[str]) -> str:
    """Say what the job of the loop cannot do, or not for long."""
    listed = "\n".join(f"- {inline(each)}" for each in found)
    return (
        "The workflow job that does brat's work here is hindered. `brat init "
        f"--actions` writes the file with all permissions.\n\n{listed}"
    )


def keyless(lacking: Mapping[str, Sequence[str]]) -> str:
    """Say which engines find no key, with the secrets in which they look."""
    wants = "\n".join(
        f"- {code_span(name)} looks in {' or '.join(map(code_span, keys))}"
        for name, keys in lacking.items()
    )
    said = (
        "No Actions secret of this repository holds the key of these engines. Their "
        "sessions end before an agent starts, unless the runner's machine has the key. "
        "Set the secret under Settings, Secrets and variables, Actions.\n\n"
        f"{wants}"
    )
    return posted(said, "There are more: `brat doctor --engines` lists them all.")
