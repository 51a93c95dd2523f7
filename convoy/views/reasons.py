"""Why a task or convoy is where it is, and what it waits for: the rules in words.

Pure: sentences from the state. Their parts may come from strangers; who shows them
makes them harmless where it shows them.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct

from convoy.events import clause
from convoy.kinds import relief
from convoy.model.state import Convoy, State, Task, TaskState
from convoy.model.work import Landing
from convoy.rules.landing import kept_from_landing, suspects, waiting_to_merge
from convoy.rules.starting import Moment, Slots, moment, resting_tasks, start_waits
from convoy.rules.target import landing_wants
from convoy.rules.turns import turns
from convoy.rules.verdict import Checks
from convoy.text import clock
from convoy.views.plan import approval, edge_words


def _given_waits(convoy: Convoy) -> str:
    """Return what a pull request in the queue of its target waits for."""
    if kept := convoy.kept_by or convoy.landing_waits or convoy.kept_back:
        return kept
    if convoy.sync.stalled:
        return f"a person: {convoy.sync.stalled}"
    if convoy.candidate is None:
        return f"its turn in the merge queue of {convoy.target}"
    commit = convoy.candidate.commit[:10]
    if convoy.sync.reds:
        return f"CI to test {commit} again, alone"
    return f"CI on {commit} or on the changes ahead of it"


def waits_for(convoy: Convoy, task: Task, at: Moment | None = None) -> str:
    """Return what keeps the task from the next state, in a few words.

    Without a moment, only what the convoy itself knows counts.
    """
    if task.settled:
        return ""
    if convoy.lands_given is not None:
        return _given_waits(convoy)
    if task.state == "blocked":
        helper = "no one (it has lost)" if relief(convoy, task) else "a person"
        return f"{helper}: {task.why}"
    if task.set_aside is not None and task.waits_aside:
        return task.set_aside.back
    if task.state == "running":
        return "its session to end"
    if task.state == "needs-review":
        queue = "CI" if task.candidate else "the merge queue"
        waits = kept_from_landing(convoy, task)
        return waits or _turn(convoy, task) or queue
    found = [*start_waits(convoy, task, at)]
    first = [wait.why for wait in found if wait.cause == found[0].cause]
    back = "" if task.cause == "retry" else task.why
    return ", ".join(first) or (f"a retry: {back}" if back else "a free slot")


def plan_waits(convoy: Convoy) -> str:
    """Return what keeps an engine from making the plan now; empty: nothing does."""
    mayor = convoy.mayor
    if convoy.state != "planning" or convoy.tasks or mayor is None:
        return ""
    if mayor.state != "queued" or mayor.attempt is not None:
        return ""
    kept = convoy.kept_by
    return f"waiting for {kept}" if kept else mayor.why and f"waiting: {mayor.why}"


def _turn(convoy: Convoy, task: Task) -> str:
    """Return whom work in review lets go first that is not in the merge queue."""
    queue = {each.number for each in waiting_to_merge(convoy)}
    first = turns(convoy).get(task.number, ()) if task.number not in queue else ()
    return next((turn.words() for turn in first if turn.on not in queue), "")


def reasons(state: State, convoy: Convoy, task: Task, now: int) -> tuple[str, ...]:
    """Return why a task is where it is: what is so, then what it waits for."""
    waits: dict[TaskState, Iterable[str]] = {
        "queued": _queued(state, convoy, task, now),
        "running": _running(convoy, task),
        "needs-review": _review(convoy, task),
        "blocked": (relief(convoy, task) or "it is waiting for a person",),
    }
    return (
        *_standing(task),
        *waits.get(task.state, ()),
        *edge_words(task.spec, settled=task.settled),
        *(f"an attempt left this note: {note}" for note in task.learned),
    )


def landed_as(task: Task) -> str:
    """Return the commit, or that there was nothing to land; empty: not yet."""
    if task.landed:
        return task.landed[:10]
    return "no change" if task.state == "merged" else ""


def _standing(task: Task) -> Iterator[str]:
    tries = {0: "not tried yet", 1: "tried once"}
    tried = tries.get(task.started, f"tried {task.started} times")
    yield f"it is {task.state}, {tried}"
    if task.landed:
        yield f"it landed as {task.landed[:10]}"
    elif task.state == "merged":
        yield task.why or "it needed no change"
    if task.state in ("blocked", "dropped") and task.why:
        yield task.why
    if task.taken_out is not None and not task.settled:
        yield task.taken_out.why


def _queued(state: State, convoy: Convoy, task: Task, now: int) -> Iterator[str]:
    yield from (f"its last attempt did not land: {note}" for note in task.notes[-1:])
    waits = start_waits(convoy, task, moment(state, now))
    found = [f"it is waiting for {wait.why}{wait.more}" for wait in waits]
    if task.not_before <= now:
        running = (each for _, each in state.running())
        found += Slots(running, resting_tasks(state, now)).lacking(convoy, task)
    yield from found or ("it will start in the bot's next round",)


def _running(convoy: Convoy, task: Task) -> Iterator[str]:
    if task.attempt is None:
        return
    engine = convoy.settings.engines.get(task.spec.engine)
    run = f", run {task.attempt.run}" if task.attempt.run else ", not dispatched yet"
    yield f"attempt {task.attempt.number} began at {clock(task.attempt.at)}{run}"
    if engine is not None:
        end = task.attempt.at + engine.timeout_s * 1000
        yield f"its session must end by {clock(end)}"
    told, heard = len(task.attempt.messages), task.attempt.heard
    if heard:
        yield f"its engine has received {heard} of {told} messages"
    if left := told - heard:
        yield (
            f"its engine has not received {left} of {told} messages; the next attempt "
            "will get all of them"
        )


def _review(convoy: Convoy, task: Task) -> Iterator[str]:
    if convoy.state == "paused":
        yield "the convoy is paused" + (f": {convoy.why}" if convoy.why else "")
    queue = [each.number for each in waiting_to_merge(convoy)]
    place = queue.index(task.number) if task.number in queue else 0
    if ahead := ", ".join(f"task {each}" for each in queue[:place]):
        yield f"ahead of it in the merge queue: {ahead}"
    if waits := kept_from_landing(convoy, task) or _turn(convoy, task):
        yield f"it waits for {waits}"
        return
    if task.is_suspect and task.doubted is not None:
        said = clause(task.doubted.why)
        yield f"CI was red on it ({said}) and is testing it again, alone"
    ci_files = task.work.ci_files if task.work else ()
    if task.pull is None and convoy.shows_work(ci_files):
        yield "its pull request is not open yet"
    if task.candidate is None:
        yield "the refinery has not built its candidate yet"
    else:
        yield f"CI is testing its candidate {task.candidate.commit[:10]}"


def convoy_reasons(convoy: Convoy, at: Moment | None = None) -> Iterator[str]:
    """Yield what is so, then what keeps it: a line for each task that is not done."""
    merged = sum(task.state == "merged" for task in convoy.tasks)
    yield f"it is {convoy.shown_state}, {merged} of {len(convoy.tasks)} tasks merged"
    yield from filter(None, (convoy.why, approval(convoy)))
    if waits := plan_waits(convoy):
        yield f"its plan is {waits}"
    if convoy.held:
        yield f"it is held by the label {convoy.held}"
    if convoy.landed:
        yield f"it landed as {convoy.landed[:10]}"
    if convoy.ended:
        return
    if convoy.sync.stalled:
        yield f"its landing is waiting for a person: {convoy.sync.stalled}"
    if convoy.landing_waits:
        yield f"it is waiting for {convoy.landing_waits}"
    if queue := ", ".join(str(task.number) for task in waiting_to_merge(convoy)):
        yield f"tasks in the merge queue, in order: {queue}"
    for task in convoy.tasks:
        if not task.settled:
            waits = waits_for(convoy, task, at).partition("\n\n")[0]
            waits = waits or "nothing: it is about to continue"
            yield f"task {task.number} ({task.state}) is waiting for {waits}"


def edge_reasons(convoy: Convoy, first: Task, then: Task) -> Iterator[str]:
    """Yield why `then` waits for `first`: what is so, then where it stands."""
    one, two = f"task {first.number}", f"task {then.number}"
    if first.number not in then.spec.after:
        others = ", ".join(f"task {n}" for n in then.spec.after) or "no task"
        yield f"{two} does not wait for {one}; it waits for {others}"
        if then.number in first.spec.after:
            yield f"it is the other way around: {one} waits for {two}"
        return
    why = then.spec.because(first.number)
    yield f"{two} starts when {one} is merged: {why}"
    if then.spec.why:
        yield f"the plan says about {two}: {then.spec.why}"
    if first.settled:
        yield f"{one} is {first.state}"
    else:
        yield f"{one} ({first.state}) is waiting for {waits_for(convoy, first)}"
    yield f"{two} is {then.state}"


def pull_reasons(convoy: Convoy) -> Iterator[str]:
    yield f"it is the pull request of the whole convoy, which is {convoy.shown_state}"
    if convoy.why:
        yield convoy.why
    if convoy.landed:
        yield f"it landed as {convoy.landed}"
        return
    if convoy.kept_by:
        yield f"it is waiting for {convoy.kept_by}"
    if convoy.withdrawn:
        yield "it was removed from the merge queue"
    else:
        yield "all its tasks are done; it is waiting for the merge queue"


def way_of_landing(landing: Landing, target: str) -> str:
    """Return how a convoy will land on the branch `target`, in one sentence."""
    said = {
        "push": f"A push moves {target} to the commit that CI tested",
        "merge": f"The forge merges the pull request with the {landing.method} method",
        "queue": f"The pull request lands through the forge's merge queue for {target}",
        "person": f"The rules of {target} let only people merge the pull request",
    }[landing.way]
    after = " and ".join(landing_wants(landing))
    return f"{said}, after {after}." if after else f"{said}."


def landing_document(convoy: Convoy) -> dict[str, str] | None:
    """Return what `--json` says of a convoy's landing; None: it is not known yet."""
    landing = convoy.landing
    if landing is None:
        return None
    told = (way_of_landing(landing, convoy.target), unread_rules(landing))
    said = " ".join(filter(None, told))
    return {"way": landing.way, "said": said, "waits_for": convoy.landing_waits}


def unread_rules(landing: Landing) -> str:
    """Return what the bot could not read of the target's rules; empty: nothing."""
    what = " and ".join(landing.unknown)
    learns = "so it learns them only when the forge refuses something"
    return f"The bot cannot read {what}, {learns}." if what else ""


CheckMark = Literal["passed", "failed", "under way"]
_VERDICT_WORDS: Final = {
    "none": "CI has not started",
    "pending": "CI is running",
    "green": "CI is green",
    "red": "CI is red",
    "lost": "CI ended without a verdict",
    "broken": "CI cannot give a verdict",
}


class CheckLine(Struct, frozen=True):
    name: str
    mark: CheckMark


class Car(Struct, frozen=True, kw_only=True):
    """A task in the train; by default one that has no candidate yet."""

    task: Task
    commit: str = ""
    stands_on: str = ""
    verdict: str = "none"
    said: str = "waiting for its turn"
    since: int
    """When that was seen first, or the candidate was built, unix ms; 0: unknown."""
    checks: tuple[CheckLine, ...] = ()


def merge_train(convoy: Convoy, seen: Mapping[str, Checks]) -> tuple[Car, ...]:
    """Return the train, its front first; what CI judges alone comes last.

    The log holds no verdict before it counts: what CI was `seen` to say last comes
    beside it (decision 80).
    """
    owners = {
        task.candidate.commit: task.number for task in convoy.tasks if task.candidate
    }
    landed = {task.landed: task.number for task in convoy.tasks if task.landed}
    cars: list[Car] = []
    for task in (*waiting_to_merge(convoy), *suspects(convoy)):
        candidate = task.candidate
        if candidate is None:
            cars.append(Car(task=task, since=task.work.at if task.work else 0))
            continue
        under, known = owners.get(candidate.base), landed.get(candidate.base)
        ground = f"the branch, with task {known}" if known else "the branch"
        checks = seen.get(candidate.commit)
        verdict = checks.verdict if checks else "unknown"
        car = Car(
            task=task,
            commit=candidate.commit,
            stands_on=f"task {under}" if under else ground,
            verdict=verdict,
            said=_VERDICT_WORDS.get(verdict, "CI requested"),
            since=(checks.since if checks else 0) or candidate.at,
            checks=check_marks(checks) if checks else (),
        )
        cars.append(car)
    return tuple(cars)


def check_marks(checks: Checks) -> tuple[CheckLine, ...]:
    def mark(name: str) -> CheckMark:
        if name in checks.failed:
            return "failed"
        return "passed" if checks.verdict == "green" else "under way"

    return tuple(CheckLine(name, mark(name)) for name in checks.names)
