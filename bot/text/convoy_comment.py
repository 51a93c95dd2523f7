"""A convoy on its issue: the comment with its plan and progress, and the labels."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, get_args

from bot.text.visible_text import code_span
from convoy.events.hold_events import LAND_LABEL
from convoy.kinds import is_stopped
from convoy.model import ids
from convoy.model.ids import SetAside
from convoy.model.session_result import estimate_words, usage_in_words
from convoy.model.state import Convoy, ConvoyState, Task, TaskState
from convoy.model.work import ShownAnswer
from convoy.rules.starting import Moment
from convoy.text import (
    POST_CHARS,
    counted,
    fitting,
    full_stop,
    inline,
    spoken_duration,
)
from convoy.views import STATE_ORDER, strip
from convoy.views.interventions import stopped
from convoy.views.plan import PlanTask, approval, plan_document
from convoy.views.reasons import (
    landed_as,
    plan_waits,
    unread_rules,
    waits_for,
    way_of_landing,
)

NODE_CHARS: Final = 40
DRAWN_MOST: Final = 30
"""A diagram with more tasks would be unreadable."""


def _mermaid(convoy: Convoy) -> Iterator[str]:
    yield "graph LR"
    for task in convoy.tasks:
        yield f'  t{task.number}["{task.number}. {_label(task.spec.title)}"]'
    for task in convoy.tasks:
        yield from (f"  t{number} --> t{task.number}" for number in task.spec.after)


def _label(title: str) -> str:
    """Return a title without characters that could end the label or be markup."""
    harmless = "".join(c if c.isalnum() or c in " .,/-" else " " for c in title)
    return " ".join(harmless[:NODE_CHARS].split())


MOST_CHARS: Final = 30_000
"""However much room there is, nobody reads more."""
_ENDS_CHARS: Final = 1_500
"""For what frames the lists: headings, the fold and the lines that say what is cut."""
_NAMES: Final = 8
_PATH_CHARS: Final = 120
_COMMAND_CHARS: Final = 300


def plan_section(convoy: Convoy, room: int) -> list[str]:
    """Return a convoy's plan as folded Markdown; empty: there is none, or no room."""
    found = plan_document(convoy)
    room = min(room, MOST_CHARS) - _ENDS_CHARS
    if not found.tasks or room <= 0:
        return []
    graph: tuple[str, ...] = ()
    if len(convoy.tasks) <= DRAWN_MOST and any(t.spec.after for t in convoy.tasks):
        graph = ("```mermaid", *_mermaid(convoy), "```", "")
    room -= sum(map(len, graph))
    blocks = fitting(
        ["\n".join(_task(task)) for task in found.tasks],
        f"- {{}}: `brat convoy show {convoy.name}` shows all of them",
        room,
    )
    is_open = " open" if convoy.state == "planning" else ""
    told = f"The plan: {counted(len(found.tasks), 'task')}"
    if found.protected:
        told += f", {counted(len(found.protected), 'task')} with protected paths"
    return [
        f"<details{is_open}><summary>{told}</summary>",
        "",
        *graph,
        *blocks,
        "",
        "</details>",
        "",
    ]


def _task(task: PlanTask) -> Iterator[str]:
    engine = code_span(task.engine)
    why = f": {inline(task.why)}" if task.why else ""
    yield f"- **{task.number}. {inline(task.title)}**"
    if task.does:
        yield f"  - does: {inline(task.does)}"
    changes = f"changes {_paths(task.paths)}" if task.paths else ""
    makes = f"creates {_paths(task.creates)}" if task.creates else ""
    touches = "; ".join(filter(None, (changes, makes)))
    yield f"  - {touches or 'declares no paths'}"
    yield f"  - engine {engine}{why}"
    for wait in task.waits:
        yield f"  - waits for task {wait.on}: {inline(wait.why)}"
    if task.acceptance:
        yield f"  - done when {code_span(task.acceptance, _COMMAND_CHARS)} passes"
    if task.protected:
        by = inline(task.protected_by)
        yield f"  - **needs protected paths**: {_paths(task.protected)}; {by}"


def _paths(paths: Sequence[str]) -> str:
    more = len(paths) - _NAMES
    named = ", ".join(code_span(path, _PATH_CHARS) for path in paths[:_NAMES])
    return f"{named} and {more} more" if more > 0 else named


LABELS: Final = {f"brat:{state}" for state in get_args(ConvoyState)}
_TASK_LABELS: Final = {f"brat:{state}" for state in get_args(TaskState)}
Labels = tuple[set[str], set[str]]
"""Those that an issue should have, and those that it should not have."""


def wanted_labels(convoy: Convoy, start_label: str) -> dict[int, Labels]:
    """Return the labels of the convoy's issue, and of its sub-issues, by their numbers.

    They show where convoy and tasks stand; nothing shows that of a staged one.
    """
    if convoy.staged:
        return {}
    have = {f"brat:{convoy.state}"}
    asks = LAND_LABEL if convoy.lands_given else start_label
    found: dict[int, Labels] = {convoy.issue: (have, (LABELS | {asks}) - have)}
    states = {task.number: task.state for task in convoy.tasks}
    for each in convoy.named if convoy.listed or convoy.settings.sub_issues else ():
        if state := states.get(each.task):
            found[each.issue] = {f"brat:{state}"}, _TASK_LABELS - {f"brat:{state}"}
    return found


def labels_key(convoy: Convoy, issue: int) -> str:
    return f"labels:{convoy.name}/{issue}"


def comment_url(convoy: Convoy, web: str) -> str:
    said = f"#issuecomment-{convoy.comment}" if convoy.comment else ""
    return f"{web}/issues/{convoy.issue}{said}"


def run_url(run: int, web: str) -> str:
    return f"{web}/actions/runs/{run}"


_NO_BOX: Final = (
    '**No sandbox:** `[runner] box = "off"` lets agents do anything that the '
    "job's user can do."
)


def with_box_note(text: str, convoy: Convoy | None) -> str:
    """Return a reply about a convoy, which says so where its agents have no box."""
    if convoy is None or convoy.settings.box == "on":
        return text
    return f"{text}\n\n{_NO_BOX}"


def box_warnings(convoy: Convoy, tasks: Sequence[Task]) -> list[str]:
    """Return the lines that warn of missing walls, as Markdown; none: all stood."""
    if convoy.settings.box == "off":
        return ["", _NO_BOX, ""]
    told = [
        f"task {task.number}: {', '.join(task.work.missing_walls)}"
        for task in tasks
        if task.work is not None and task.work.missing_walls
    ]
    if not told:
        return []
    said = "**Missing isolation** of agents, as reported by their sessions"
    return ["", f"{said}: {'; '.join(told)}.", ""]


_ANSWERS_OPEN: Final = 3
"""How many are to be seen without unfolding."""
_ANSWERS_CHARS: Final = 4_000


def answer_lines(convoy: Convoy, web: str) -> list[str]:
    """Return the lines about what people asked; empty: nobody did."""
    if not convoy.answers:
        return []
    shown = [_answer_item(convoy, each, web) for each in reversed(convoy.answers)]
    more = "- {}: `brat log show` shows all of them"
    newest = fitting(shown[:_ANSWERS_OPEN], more, _ANSWERS_CHARS)
    older = shown[_ANSWERS_OPEN:] if len(newest) == len(shown[:_ANSWERS_OPEN]) else []
    older = fitting(older, more, _ANSWERS_CHARS - sum(map(len, newest)))
    if older:
        fold = "<details><summary>Older answers</summary>"
        older = [fold, "", *older, "", "</details>", ""]
    return ["**Answers**, newest first:", "", *newest, "", *older]


def _answer_item(convoy: Convoy, answer: ShownAnswer, web: str) -> str:
    """Return an answer with a link to what was asked, and on which pull request."""
    place = "" if answer.issue == convoy.issue else f" on #{answer.issue}"
    if web and answer.comment:
        url = f"{web}/issues/{answer.issue}#issuecomment-{answer.comment}"
        place = f" ([asked]({url}){place})"
    first, *rest = answer.text.split("\n")
    lines = [f"- {inline(answer.by)}{place}: {first}"]
    lines += [f"  {line}".rstrip() for line in rest]
    return "\n".join(lines)


_DEFAULT: Final = "default"
_ROWS_CHARS: Final = 36_000


def task_table(convoy: Convoy, at: Moment | None, web: str) -> list[str]:
    """Return the table's lines; without the address `web` no links and no checks."""
    cells = [_cells(convoy, task, at, web) for task in convoy.tasks]
    rows = [_row(each.values()) for each in cells]
    more = f"| | {{}}: `brat convoy show {convoy.name}` lists all of them |"
    line = "|" + "---|" * len(cells[0])
    return [_row(cells[0]), line, *fitting(rows, more, _ROWS_CHARS)]


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cells(convoy: Convoy, task: Task, at: Moment | None, web: str) -> dict[str, str]:
    """Return a task's cells by their columns."""
    landed, attempts, checks = landed_as(task), str(task.started), ""
    if web and task.runs:
        attempts = f"[{attempts}]({run_url(task.runs[-1], web)})"
    if task.landed:
        checks = f"[checks]({web}/commit/{task.landed}/checks)"
    elif task.candidate:
        checks = f"[CI requested]({web}/commit/{task.candidate.commit}/checks)"
    worked = spoken_duration(task.worked_ms // 1000) if task.worked_ms else ""
    return {
        "#": str(task.number),
        "Task": titled(convoy, task),
        "State": task.state,
        "Engine": inline(_engine(convoy, task)),
        "Attempts": attempts,
        "Worked": worked,
        "Pull request": f"#{task.pull}" if task.pull else "",
        **({"Checks": checks} if web else {}),
        "Landed as": f"`{landed}`" if task.landed else landed,
        "Waiting for": inline(waits_for(convoy, task, at)),
    }


def titled(convoy: Convoy, task: Task) -> str:
    """Return a task's title, with a link to the issue that it stands for."""
    issue = next((each.issue for each in convoy.named if each.task == task.number), 0)
    if not issue:
        return inline(task.spec.title)
    return f"{inline(task.spec.title.removesuffix(f'(#{issue})'))} (#{issue})"


def _engine(convoy: Convoy, task: Task) -> str:
    """Return the engine's name, or what it is where it is only the default."""
    name = task.spec.engine
    if convoy.lands_given is not None:
        return ""
    known = convoy.settings.engines.get(name)
    return known.type if known is not None and name == _DEFAULT else name


HOW_ON: Final = (
    "To start it, remove `staged = true` from `.brat/config.toml` and say `/brat "
    "approve`."
)
_JUDGED: Final = {
    True: "when its checks are green",
    False: "untested, because `require_ci = false`",
}


def _steps(convoy: Convoy) -> Iterator[str]:
    """Give the steps that would happen without `staged`, in order."""
    settings, base = convoy.settings, ids.base_branch(convoy.name)
    first = [task for task in convoy.tasks if not task.spec.after]
    at_once = min(len(first), settings.max_sessions)
    yield f"create the branch `{base}` at `{convoy.base[:10]}`"
    engines = Counter(task.spec.engine for task in convoy.tasks).items()
    by = ", ".join(f"{counted(many, 'task')} by `{name}`" for name, many in engines)
    yield f"start {counted(at_once, 'session')} at once ({by})"
    judged = _JUDGED[settings.require_ci]
    pulls = counted(len(convoy.tasks), "draft pull request")
    opened = f"open {pulls} into it and " if convoy.shows_work(()) else ""
    yield f"{opened}merge each task's work into it by {settings.strategy}, {judged}"
    if settings.approvals:
        yield f"before each merge, wait for {counted(settings.approvals, 'approval')}"
    yield f"open one pull request into `{convoy.target}` and land it, {judged}"


_BOXES_CHARS: Final = 6_000
"""Kept free for the boxes below it and the marker above."""
_WARNED_CHARS: Final = 2_000
_REFUSED_CHARS: Final = 4_000


_STRIP_MOST: Final = 30
_STRIP: Final = {
    "merged": "🟩",
    "needs-review": "🟨",
    "running": "🟦",
    "queued": "⬜",
    "blocked": "🟥",
    "dropped": "⬛",
}
"""A square for each task, up to `_STRIP_MOST`; the heading says the same in words."""


def convoy_table(
    convoy: Convoy,
    asides: Sequence[SetAside] = (),
    at: Moment | None = None,
    web: str = "",
) -> str:
    """Return the progress of a convoy; `asides` are not told by its tasks."""
    lines = [f"### Convoy `{convoy.name}`: {_headline(convoy)}", "", *_waits(convoy)]
    if convoy.tasks:
        width = min(len(convoy.tasks), _STRIP_MOST)
        lines += ["".join(_STRIP[each] * n for each, n in strip(convoy, width)), ""]
        lines += [*task_table(convoy, at, web), ""]
    lines += box_warnings(convoy, convoy.tasks)
    if not convoy.ended:
        lines += _look_out(convoy)
    if convoy.staged and convoy.tasks:
        said = "**Staged:** nothing has started, and nothing will."
        lines += [
            f"{said} Without `staged`, brat would:",
            *(f"{number}. {said};" for number, said in enumerate(_steps(convoy), 1)),
            "",
            HOW_ON,
            "",
        ]
    if said := approval(convoy):
        waits = "The plan needs approval" if convoy.tasks else "Before it starts"
        lines += [f"**{waits}:** {said}.", ""]
    place = len(lines)
    if convoy.held:
        lines += [f"**Held** by the label {inline(convoy.held)}.", ""]
    if convoy.why:
        lines += [f"**Why:** {inline(convoy.why)}", ""]
    lines += _landing(convoy)
    lines += _refused(asides)
    about = "" if convoy.ended else estimate_words(convoy.estimate)
    spent = usage_in_words(convoy.used)
    told = [f"Estimate: {about}."] * bool(about)
    told += [f"Sessions have used {spent}."] * bool(spent)
    lines += [" ".join(told), ""] if told else []
    lines += answer_lines(convoy, web)
    branch = f"Branch `{ids.base_branch(convoy.name)}`. " if not convoy.given else ""
    lines.append(
        f"<sub>Requested by {inline(convoy.by)}. {branch}brat keeps this comment up to "
        "date. The log in `refs/grite/wal` has every detail.</sub>"
    )
    if not convoy.ended and convoy.lands_given is None:
        taken = sum(len(line) + 1 for line in lines)
        lines[place:place] = plan_section(convoy, POST_CHARS - _BOXES_CHARS - taken)
    return "\n".join(lines)


def _landing(convoy: Convoy) -> list[str]:
    """Return how the convoy lands, and what that waits for."""
    pull, landing = convoy.pull, convoy.landing
    told = [f"The convoy's own pull request: #{pull}."] if pull is not None else []
    if given := convoy.lands_given:
        told = [f"The convoy covers commit `{given.head[:10]}` of this pull request."]
    if landing is not None and not convoy.ended:
        told += [
            inline(way_of_landing(landing, convoy.target)),
            inline(unread_rules(landing)),
        ]
    lines = [" ".join(filter(None, told)), ""] if any(told) else []
    if convoy.sync.stalled and not convoy.ended:
        said = f"**Landing is blocked:** {full_stop(inline(convoy.sync.stalled))}"
        lines += [f"{said} Fix the problem, then say `/brat retry`.", ""]
    if convoy.landing_waits and not convoy.ended:
        lines += [f"**Landing is waiting for** {inline(convoy.landing_waits)}.", ""]
    return lines


def _look_out(convoy: Convoy) -> list[str]:
    more = f"{{}}: `brat convoy show {convoy.name}`"
    said = [inline(each) for each in convoy.warnings]
    warned = "; ".join(fitting(said, more, _WARNED_CHARS))
    waits = plan_waits(convoy)
    told = [f"**The plan is {inline(waits)}.**", ""] if waits else []
    return told + ([f"**Warning:** {warned}.", ""] if warned else [])


def _refused(asides: Sequence[SetAside]) -> list[str]:
    """Say what was refused, in words that stay the same from one try to the next."""
    if not asides:
        return []
    told = dict.fromkeys(
        inline(f"{full_stop(each.why)} {each.helps}".strip()) for each in asides
    )
    shown = fitting([f"- {each}" for each in told], "- {}", _REFUSED_CHARS)
    heading = "**Set aside** (brat will retry later; to retry now, say `/brat retry`):"
    return [heading, "", *shown, ""]


def _headline(convoy: Convoy) -> str:
    if not convoy.tasks:
        return convoy.shown_state
    counts = Counter(task.state for task in convoy.tasks)
    merged = f"{counts.pop('merged', 0)} of {len(convoy.tasks)} merged"
    rest = (f"{counts[state]} {state}" for state in STATE_ORDER if counts[state])
    return " · ".join((convoy.shown_state, merged, *rest))


def _waits(convoy: Convoy) -> list[str]:
    """Return the tasks that wait for a person: they come first, as on the page."""
    found = [stopped(convoy, task) for task in convoy.tasks if is_stopped(convoy, task)]
    told = [
        f"- task {each.task}: {inline(each.why.partition(chr(10))[0])} "
        f"({code_span(each.comments[0])})"
        for each in found
    ]
    shown = fitting(told, "- {}: `brat status`", _WARNED_CHARS)
    return ["**Waiting for you:**", "", *shown, ""] if told else []
