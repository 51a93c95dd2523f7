"""The text of a convoy's comment: the progress of the convoy and its tasks. Pure."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from bot.markdown.code_span import code_span
from bot.messages import staged_preview
from bot.messages.answer_lines import answer_lines
from bot.messages.box_warnings import box_warnings
from bot.messages.plan_section import plan_section
from bot.messages.task_rows import task_table
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.session_result import cost_foreseen, usage_in_words
from convoy.model.state import Convoy, Lease
from convoy.text import INLINE_CHARS, POST_CHARS, counted, fitting, full_stop, inline
from convoy.views.interventions import further_work
from convoy.views.plan import approval, collision_words
from convoy.views.reasons import about_parts, plan_waits, unread_rules, way_of_landing

_FLAKES_MOST: Final = 5
_FURTHER_CHARS: Final = 8_000
_BOXES_CHARS: Final = 6_000
"""Kept free for the boxes below it and the marker above."""
_WARNED_CHARS: Final = 2_000
_REFUSED_CHARS: Final = 4_000


def convoy_table(
    convoy: Convoy,
    asides: Sequence[SetAside] = (),
    leases: Iterable[Lease] = (),
    web: str = "",
) -> str:
    """Return the progress of a convoy and its tasks, as Markdown.

    Args:
        convoy: the convoy.
        asides: what of it is set aside beside its tasks.
        leases: those that have not run out.
        web: the repository's web address, for links to runs; empty: no links.
    """
    lines = [
        f"### Convoy `{convoy.name}`: {_headline(convoy)}",
        "",
    ]
    if convoy.tasks:
        lines += [*task_table(convoy, leases, web), ""]
    lines += box_warnings(convoy, convoy.tasks)
    if not convoy.ended:
        lines += _look_out(convoy)
    if convoy.staged and convoy.tasks:
        lines += [*staged_preview.lines(convoy), ""]
    if said := approval(convoy):
        waits = "The plan waits for a person" if convoy.tasks else "Before it starts"
        lines += [f"**{waits}:** {said}.", ""]
    place = len(lines)
    if convoy.held:
        lines += [f"**Held** by the label {inline(convoy.held)}.", ""]
    if convoy.why:
        lines += [f"**Why:** {inline(convoy.why)}", ""]
    lines += _landing(convoy)
    lines += _refused(asides)
    lines += _further(convoy)
    lines += _flakes(convoy)
    lines += _money(convoy)
    lines += answer_lines(convoy, web)
    lines.append(
        f"<sub>Asked for by {inline(convoy.by)}. "
        f"Branch `{ids.base_branch(convoy.name)}`. "
        "This comment is kept up to date; the log in `refs/grite/wal` says everything."
        "</sub>"
    )
    if not convoy.ended:
        lines[place:place] = plan_section(
            convoy, POST_CHARS - _BOXES_CHARS - _size(lines)
        )
    return "\n".join(lines)


def _size(lines: Iterable[str]) -> int:
    return sum(len(line) + 1 for line in lines)


def _landing(convoy: Convoy) -> list[str]:
    """Return how the convoy lands, and what that waits for."""
    pull, landing = convoy.pull, convoy.landing
    told = [inline(about_parts(convoy))]
    told += [f"The convoy's own pull request: #{pull}."] if pull is not None else []
    if landing is not None and not convoy.ended:
        told += [
            inline(way_of_landing(landing, convoy.target)),
            inline(unread_rules(landing)),
        ]
    lines = [" ".join(filter(None, told)), ""] if any(told) else []
    if convoy.sync.stalled and not convoy.ended:
        stalled = inline(convoy.sync.stalled)
        lines += [f"**Its landing waits for a person** (`/brat retry`): {stalled}.", ""]
    if convoy.landing_waits and not convoy.ended:
        lines += [f"**It waits for** {inline(convoy.landing_waits)}.", ""]
    return lines


def _look_out(convoy: Convoy) -> list[str]:
    more = f"{{}}: `brat convoy show {convoy.name}`"
    warned, risks = (
        "; ".join(fitting([inline(each) for each in said], more, _WARNED_CHARS))
        for said in (convoy.warnings, collision_words(convoy))
    )
    waits = plan_waits(convoy)
    told = [f"**The plan waits:** {inline(waits)}.", ""] if waits else []
    told += [f"**Look out:** {warned}.", ""] if warned else []
    return told + ([f"**May collide**, at a guess: {risks}.", ""] if risks else [])


def _flakes(convoy: Convoy) -> list[str]:
    """Return the checks that were red and then green on the same files."""
    if not convoy.flakes:
        return []
    told = ", ".join(
        f"{inline(name)} ({counted(count, 'time')})"
        for name, count in Counter(convoy.flakes).most_common(_FLAKES_MOST)
    )
    return [f"**Flaky checks**, red and then green on the same files: {told}.", ""]


def _money(convoy: Convoy) -> list[str]:
    about = "" if convoy.ended else cost_foreseen(convoy.estimate)
    spent = usage_in_words(convoy.used)
    told = [f"Estimate: {about}."] * bool(about)
    told += [f"Its sessions used {spent}."] * bool(spent)
    return [" ".join(told), ""] if told else []


def _refused(asides: Sequence[SetAside]) -> list[str]:
    """Say what was refused, in words that stay the same from one try to the next."""
    if not asides:
        return []
    told = dict.fromkeys(
        inline(f"{full_stop(each.why)} {each.helps}".strip()) for each in asides
    )
    shown = fitting([f"- {each}" for each in told], "- {}", _REFUSED_CHARS)
    heading = "**Set aside**, and tried again from time to time, or by `/brat retry`:"
    return [heading, "", *shown, ""]


def _further(convoy: Convoy) -> list[str]:
    """Return the further work that agents saw, with the command that adds each."""
    lines = []
    for found in further_work(convoy):
        add = code_span(f"/brat add -- {found.title}", INLINE_CHARS)
        why = f" ({inline(found.why)})" if found.why else ""
        lines.append(f"- of task {found.task}{why}: {add}")
    if not lines:
        return []
    heading = "**Agents saw further work.** Say what is to be added:"
    shown = fitting(lines, "- {}: `brat status` lists them all", _FURTHER_CHARS)
    return [heading, "", *shown, ""]


def _headline(convoy: Convoy) -> str:
    if not convoy.tasks:
        return convoy.state
    counts: dict[str, int] = {}
    for task in convoy.tasks:
        counts[task.state] = counts.get(task.state, 0) + 1
    merged = counts.pop("merged", 0)
    rest = "".join(f" · {number} {state}" for state, number in counts.items())
    return f"{convoy.state}, {merged}/{len(convoy.tasks)} merged{rest}"
