"""What the bot says unasked, where that is made of what it found; and its calls."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from bot.forge.workflows import Exposure
from bot.text import phrase
from bot.text.visible_text import code_span
from convoy.events.hold_events import WorkTakenOut
from convoy.gate import unallowed
from convoy.kinds import may_be_too_much
from convoy.model.state import Convoy, Task
from convoy.model.work import Push
from convoy.rules.calls import Need
from convoy.rules.retries import dropped_needs
from convoy.text import full_stop, inline, posted


def plan_unapproved(by: str, why: str, *, lands: bool = False) -> str:
    waits = phrase("plan-cannot-land") if lands else phrase("plan-cannot-start")
    return phrase("plan-unapproved", by=by, why=why, waits=waits)


def log_refused(why: str, helps: str) -> str:
    said = full_stop(inline(f"{why[:1].upper()}{why[1:]}"))
    return phrase("log-refused", said=said, helps=inline(helps))


def exposed(found: Sequence[Exposure]) -> str:
    listed = _listed(f"{one.said}: {one.mend}" for one in found)
    return posted(phrase("exposed", listed=listed), phrase("more-exposed"))


def left_out(remarks: Iterable[str]) -> str:
    return phrase("left-out", listed=_listed(remarks))


def unreported(lacking: Sequence[str], jobs: Sequence[str]) -> str:
    return phrase("unreported", checks=_spans(lacking), others=_spans(jobs[:10]))


def left_out_by_paths(checks: Sequence[str]) -> str:
    return phrase("left-out-by-paths", checks=_spans(checks))


def left_out_of_queue(checks: Sequence[str]) -> str:
    return phrase("left-out-of-queue", checks=_spans(checks))


def hindered(found: Sequence[str]) -> str:
    return phrase("hindered", listed=_listed(found))


def keyless(lacking: Mapping[str, Sequence[str]]) -> str:
    listed = "\n".join(
        f"- {code_span(name)} looks for its key in {' or '.join(map(code_span, keys))}"
        for name, keys in lacking.items()
    )
    return posted(phrase("keyless", listed=listed), phrase("more-keyless"))


def _listed(lines: Iterable[str]) -> str:
    return "\n".join(f"- {inline(each)}" for each in lines)


def _spans(words: Sequence[str]) -> str:
    return ", ".join(map(code_span, words))


_PUSHED_MOST: Final = 20


def branch_pushed(
    branch: str, pushed: Push, tip: str, kept: str, *, is_tasks: bool
) -> str:
    head = pushed.commit[:10]
    whose, what = ("the task", "") if is_tasks else ("the convoy", "starts or ")
    faults = _listed(pushed.faults)
    return phrase(
        "branch-pushed",
        commit=code_span(head),
        branch=code_span(branch),
        files=_spans(pushed.files[:_PUSHED_MOST]) or "no files",
        tip=code_span(tip[:10]),
        gate=phrase("pushed-faults", faults=faults) if faults else "",
        whose=whose,
        what=what,
        head=head,
        kept=code_span(kept),
    )


def taken_out(out: WorkTakenOut, wanted: str) -> str:
    what = f"Task {out.task}" if out.task else "The convoy"
    places = {"base": code_span(out.base), "wanted": code_span(wanted)}
    did = phrase(f"taken-out-{out.gesture}", **places)
    drop = f"say `/brat drop {out.task}`"
    gone = f" To give up the task for good, {drop}." if out.task else ""
    return phrase("taken-out", what=what, did=did, gone=gone)


def ci_changed(files: Sequence[str]) -> str:
    return phrase("ci-changed", files=_spans(files[:5]))


_NEEDS_MOST: Final = 10


def call_text(convoy: Convoy, needs: tuple[Need, ...]) -> str:
    """Return the comment as Markdown: whom it calls, what waits, how to answer."""
    whom = dict.fromkeys(need.whom for need in needs if need.whom)
    called = "".join(f"@{each} " for each in whom)
    lines = [f"{called}This convoy needs a decision:", ""]
    lines += ["- " + "".join(_need_said(convoy, need)) for need in needs[:_NEEDS_MOST]]
    if more := len(needs[_NEEDS_MOST:]):
        lines.append(f"- and {more} more, listed in the convoy's comment")
    return "\n".join(lines)


def _need_said(convoy: Convoy, need: Need) -> Iterator[str]:
    task = convoy.task(need.task)
    if task is not None:
        yield f"task {task.number}, {inline(task.spec.title)}: "
    match need.kind:
        case "failed" if convoy.given is not None:
            out = "brat no longer works on this pull request"
            if convoy.given.lands:
                out = f"this pull request will not land on {inline(convoy.target)}"
            yield f"{out}: {full_stop(inline(convoy.why))} "
            yield f"To try its newest commit, say `/brat {convoy.given.verb}`."
        case "failed":
            yield f"the convoy failed: {full_stop(inline(convoy.why))} "
            yield "To resume it, say `/brat retry`. To start over, add the label again."
        case "plan":
            yield "the plan needs approval: review it, then say `/brat approve`."
        case "approve":
            pull = f"#{task.pull}" if task else "its pull request"
            yield f"its work needs approval on {pull}."
        case "landing" if convoy.sync.stalled:
            yield f"its landing is blocked: {full_stop(inline(convoy.sync.stalled))} "
            yield "Fix the problem, then say `/brat retry`."
        case "landing":
            green = " is green and" if convoy.pull else ""
            yield f"{convoy.offer}{green} is waiting for "
            yield f"{inline(convoy.landing_waits)}."
        case "refused":
            if need.aside is not None:
                yield f"{full_stop(inline(need.aside.why))} "
                yield f"{inline(need.aside.helps)} " if need.aside.helps else ""
                again = f"/brat retry task-{task.number}" if task else "/brat retry"
                yield f"brat will retry later. To retry now, say `{again}`."
        case _:  # it is blocked
            yield _unblocking(convoy, task)


def _unblocking(convoy: Convoy, task: Task | None) -> str:
    if task is None:
        return ""
    why = full_stop(inline(task.why))
    if unallowed(task, convoy.settings.gate):
        return why  # it says what helps: another try would not
    parts = ""
    if may_be_too_much(convoy, task):
        parts = f" To split it into parts, say `/brat split {task.number} -- LIST`."
    words = ["retry", "drop"][bool(dropped_needs(convoy, task)) :]
    say = " or ".join(f"`/brat {word} {task.number}`" for word in words)
    return f"{why} Say {say}.{parts}"
