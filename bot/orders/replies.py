"""What the bot says to commands: every sentence, and the reaction that goes with it."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from bot import comment
from bot.speech.code_span import code_span
from bot.speech.grammar import Misheard
from bot.speech.verbs import help_text
from bot.version import VERSION
from convoy.events import Reaction, TaskSpec
from convoy.state import Convoy, Task
from convoy.told.order import edges
from convoy.told.reasons import waits_for
from convoy.told.spending import spenders, spoken, used

TEXT_CHARS = 60_000
NOT_SAID: Final = "No engine has said yet what it used."


class Reply(Struct, frozen=True):
    """What one command came to."""

    reaction: Reaction
    text: str


def done(text: str) -> Reply:
    """It was done."""
    return Reply("rocket", text)


def refused(why: str) -> Reply:
    """The rules forbid it."""
    return Reply("confused", f"That cannot be done: {why}.")


def denied(verb: str, right: str = "write") -> Reply:
    """The person may not."""
    return Reply("-1", f"`{verb}` takes {right} access to this repository.")


def misheard(what: Misheard) -> Reply:
    """The line is no command."""
    return Reply("confused", f"{what.why[:1].upper()}{what.why[1:].rstrip('.')}.")


def help_with(verb: str | None) -> Reply:
    """What can be said."""
    return done(help_text(verb))


def pong(login: str) -> Reply:
    """The bot is there."""
    return done(f"{login} is here, version {VERSION}.")


def status(convoy: Convoy) -> Reply:
    """Where the convoy stands."""
    return done(comment.convoy_table(convoy))


def why(convoy: Convoy, number: int) -> Reply:
    """What a task waits for, and what it went through."""
    task = convoy.task(number)
    if task is None:
        return refused(f"{convoy.name} has no task {number}")
    lines = [f"Task {number} is {task.state}, after {task.started} attempts."]
    if waits := waits_for(convoy, task):
        lines.append(f"It waits for {comment.inline(waits)}.")
    lines += [f"- {comment.inline(edge)}" for edge in edges(task.spec)]
    lines += [f"- {comment.inline(note)}" for note in task.notes]
    return done("\n".join(lines))


# --- what was done ----------------------------------------------------------------

PAUSED: Final = done("Nothing new starts.")
RESUMED: Final = done("It goes on.")
CANCELLED: Final = done("The convoy is cancelled; what is done is kept.")
PLAN_APPROVED: Final = done("The plan is approved: the first tasks start.")
QUEUED: Final = done("It is in the merge queue again.")
UNQUEUED: Final = done(
    "It is out of the merge queue, until somebody says `/brat merge`."
)
SEE_REVIEW: Final = "see the review's comments on the lines of the change"
LATE_REVIEW: Final = refused(
    "this review was found by a look, and GitHub does not tell whether its text was "
    "edited since: say its commands in a comment"
)
NO_WORK: Final = "this is not the pull request of a task with work in it"


def unvouched(by: str) -> str:
    """Say that nobody answers for the convoy."""
    return (
        f"@{by} may not write to this repository any more, so nothing new starts in "
        "this convoy. Somebody who may lets it go on with `/brat resume`."
    )


def stopped_all(by: str, why: str) -> str:
    """Say that everything pauses, and why."""
    return f"@{by} Every convoy of this repository pauses: {why}."


def unanswered_for(by: str) -> str:
    """Say that nobody answers for the landing."""
    return (
        f"@{by} may not have this merged any more, so it is taken out of the merge "
        "queue. Somebody who may puts it back with `/brat merge` on its pull request."
    )


def keyless(lacking: Mapping[str, Sequence[str]]) -> str:
    """Say which engines find no key, by their name and where they look for it."""
    wants = "\n".join(
        f"- {code_span(name)} looks in {' or '.join(map(code_span, keys))}"
        for name, keys in lacking.items()
    )
    return (
        "No Actions secret of this repository holds the key of these engines:\n\n"
        f"{wants}\n\n"
        "Their sessions end before an agent starts, unless the runner's machine has "
        "the key. Set the secret under Settings, Secrets and variables, Actions."
    )


def stopped(number: int) -> Reply:
    """The task waits for a person."""
    return done(
        f"What runs for task {number} is stopped. `/brat retry {number}` tries it "
        f"again, `/brat drop {number}` gives it up."
    )


def dropped(number: int) -> Reply:
    """The task is given up."""
    return done(f"Task {number} is dropped.")


def retried(numbers: Sequence[int]) -> Reply:
    """The tasks are tried again."""
    listed = ", ".join(map(str, numbers))
    return done(f"Task {listed} is queued again, with all its attempts.")


def approved(have: int, wanted: int) -> Reply:
    """The work is approved."""
    if have < wanted:
        return done(f"Approved: {have} of {wanted} who are needed.")
    return done("Approved: it merges when it is green.")


def name_the_commit(task: Task) -> str:
    """Say which commit it is that would be approved."""
    if task.work is None:
        return NO_WORK
    head = task.work.commit[:10]
    return f"say which commit you have looked at; the work is `/brat approve {head}`"


def revised(number: int, *, blocked: bool) -> Reply:
    """The task is sent back."""
    if blocked:
        return done(
            f"Task {number} has spent its attempts and waits for a person; "
            f"`/brat retry {number}` lets it go on with what you said."
        )
    return done(f"Task {number} goes on from its work with what you said.")


def rebased(commit: str, *, anew: bool) -> Reply:
    """The work stands on what has landed."""
    more = " It has to be approved anew." if anew else ""
    return done(f"The work stands on what has landed, as `{commit[:10]}`.{more}")


def conflicts(paths: Sequence[str]) -> str:
    """Say where the work does not apply."""
    named = ", ".join(code_span(path) for path in paths[:5])
    return f"the work conflicts with what has landed, in {named}"


def told(number: int, *, running: bool, hears: bool = False) -> Reply:
    """The session that runs is told where its engine takes messages, and the next."""
    if hears:
        return done(
            f"The session of task {number} is told now, and every later attempt will "
            f"be. `brat why {number}` says when its engine was given it."
        )
    more = " The one that runs now does not hear of it." if running else ""
    return done(f"The next attempt of task {number} will be told.{more}")


def added(spec: TaskSpec) -> Reply:
    """There is one more task."""
    after = ", ".join(map(str, spec.after))
    waits = f" It waits for task {after}." if after else ""
    return done(f"That is task {spec.number}: {comment.inline(spec.title)}.{waits}")


def linked(number: int, other: int) -> Reply:
    """One task waits for another."""
    return done(f"Task {number} waits until task {other} is merged.")


def assigned(number: int | None, engine: str) -> Reply:
    """Another engine takes over."""
    what = f"Task {number} goes" if number else "All tasks that have not started go"
    return done(f"{what} to the engine `{engine}`.")


def ranked(priority: int) -> Reply:
    """The convoy has another place."""
    return done(f"The convoy has priority `p{priority}`.")


def locked(resource: str, ttl_s: int) -> Reply:
    """The resource is held."""
    return done(f"{code_span(resource)} is yours for {ttl_s} s.")


def unlocked(resource: str) -> Reply:
    """The resource is free."""
    return done(f"{code_span(resource)} is free.")


def all_of_them(number: int, *, paused: bool) -> Reply:
    """Everything was paused or resumed, and so many convoys with it."""
    convoys = "1 convoy" if number == 1 else f"{number} convoys"
    if paused:
        return done(
            f"Everything is paused, {convoys} with it. What runs ends as usual; "
            "nothing new starts or is accepted until `/brat resume all`."
        )
    return done(f"Everything goes on, {convoys} with it.")


# --- what is known ----------------------------------------------------------------


def logs(convoy: Convoy, number: int, runs_url: str) -> Reply:
    """Where to read what a task's sessions printed, the newest first."""
    task = convoy.task(number)
    if task is None:
        return refused(f"{convoy.name} has no task {number}")
    if not task.runs:
        return refused(f"task {number} has had no session yet")
    lines = [f"- [run {run}]({runs_url}/{run})" for run in reversed(task.runs)]
    return done("\n".join((f"The sessions of task {number}, newest first:", *lines)))


def cost(convoy: Convoy, now: int) -> Reply:
    """What is known of the convoy's cost at `now` (unix ms)."""
    tasks = spenders(convoy)
    running = [now - task.attempt.at for task in tasks if task.attempt]
    worked_ms = sum(task.worked_ms for task in tasks) + sum(running)
    attempts = sum(task.started for task in tasks)
    minutes = max(0, worked_ms) / 60_000
    said = spoken(used(convoy))
    ended = f"Those that have ended used {said}." if said else NOT_SAID
    return done(
        f"`{convoy.name}` took {attempts} attempts and {minutes:.1f} minutes of "
        f"sessions so far. {ended}"
    )


# --- all of a comment -------------------------------------------------------------


def reaction(given: Sequence[Reply]) -> Reaction:
    """Return the one reaction for a comment: the worst of its commands'."""
    order: tuple[Reaction, ...] = ("-1", "confused", "rocket")
    all_given = {reply.reaction for reply in given}
    return next((each for each in order if each in all_given), "")


def text(by: str, given: Sequence[Reply]) -> str:
    """Return the one reply to a comment."""
    said = "\n\n".join(reply.text for reply in given if reply.text)
    return f"@{by} {said}"[:TEXT_CHARS] if said else ""
