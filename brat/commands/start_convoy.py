"""`brat mayor start`: open an issue, then plan its convoy or run all of it.

A convoy is asked for as the person: an issue is opened, or the one is found that asks
for it. A start that was cut off leaves its issue open, so the same words go on with it.
`brat workflow` lists and shows patterns, and starts a convoy from one.
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from errno import ENAMETOOLONG
from pathlib import Path
from typing import Any, Final, NoReturn

from rich.console import RenderableType
from rich.live import Live
from rich.table import Table

from bot.repository.commits import Commits
from bot.settings.bot_settings import ROLES
from brat.commands.init_repository import register, without_ci
from brat.commands.print_diff import summary
from brat.local import local_mode, run_roles
from brat.local.local_mode import Local, ending_agents, person, run_to_end, serving
from brat.local.start_checks import branch_lacks, ci_of, require
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import Checkout
from brat.status.status_screen import convoy_table, plan_screen
from brat.terminal.console import err, out, say, write
from convoy.model.ids import without_markers
from convoy.model.state import Convoy
from convoy.owed import Role
from convoy.patterns import BUILT_IN, PatternError, built_in_text, own_patterns
from convoy.patterns.compiling import Use, compiled
from convoy.planner.issue_text import Item
from convoy.planner.marks import marked
from convoy.text import seconds_in, shortened
from convoy.views import planned_document
from convoy.views.plan import approval
from grite.errors import BratError

_FOUND: Final = "issue #{issue} has the same text and is still open: continuing with it"
TITLE_MOST: Final = 256
"""GitHub takes no longer title."""
TIMEOUT: Final = "2h"
"""How long a whole run may take when no timeout is given."""


@dataclass(frozen=True, kw_only=True)
class Start:
    """How a convoy is asked for from the command line."""

    headless: bool = False
    """Run the whole convoy, then end."""
    timeout: str | None = None
    """How long a headless run may take; None: `TIMEOUT`."""
    plan_only: bool = False
    """The plan waits for a person's approval."""
    as_json: bool = False
    """Print the convoy for a program."""
    title: str | None = None
    """The issue's title; None: the text's first line."""
    comment: str = ""
    """A comment to write on the issue instead of setting the label."""
    live: bool = False
    """On a terminal, show the tasks as a table that stays until the end."""


def text_of(said: str, *more: str) -> str:
    """Return what to do: as said, what @FILE holds, or for - standard input.

    Of several texts it makes a list.
    """
    if more:
        tasks = (text_of(each).strip().replace("\n", "\n  ") for each in (said, *more))
        return "\n".join(f"- [ ] {each.removeprefix('- [ ] ')}" for each in tasks)
    try:
        if said == "-":
            return sys.stdin.read()
        name = said[1:]  # `@types/node is old` is no file's name
        if said.startswith("@") and (" " not in name or os.path.exists(name)):  # noqa: PTH110  a path's own `exists` raises if a name is too long
            return Path(name).read_text(encoding="utf-8")
    except OSError as error:
        if error.errno == ENAMETOOLONG:
            return said
        raise BratError(f"{said[1:]} cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise BratError(f"{said} is not UTF-8 text: convert it first") from error
    if " " not in said and os.path.isfile(said):  # noqa: PTH113  as above
        raise BratError(f"{said} is a file: write @{said} for the task that it holds")
    return said


def run(repo: Path, text: str, title: str | None, timeout: str | None) -> int:
    how = Start(title=title, headless=True, timeout=timeout, live=True)
    return mayor_start(repo, text_of(text), how)


def start(repo: Path, tasks: Sequence[str], **how: Any) -> int:  # noqa: ANN401  `Start`
    return mayor_start(repo, text_of(*tasks), Start(**how))


def mayor_start(path: Path, text: str, how: Start) -> int:
    """Open the issue, then plan or run its convoy; return the exit status."""
    text = text.removeprefix("\n")
    if any("\ud800" <= each <= "\udfff" for each in text):
        _refuse("the task is not valid UTF-8: convert it first")
    if not text.strip():
        _refuse("the task is empty: say what to do")
    title = None if how.title is None else how.title.strip()
    if title is not None and (not title or len(title) > TITLE_MOST or "\n" in title):
        _refuse(f"--title must be one line of 1 to {TITLE_MOST} characters")
    if how.headless and how.plan_only:
        _refuse("--headless runs the plan, but --plan-only does not: use only one")
    if how.timeout is not None and not how.headless:
        _refuse("--timeout requires --headless")
    timeout = how.timeout or TIMEOUT
    try:
        limit_s = int(timeout) if timeout.isdecimal() else seconds_in(timeout)
    except ValueError as error:
        _refuse(f"--timeout: {error}")
    if limit_s == 0:
        _refuse("--timeout must be at least 1s")
    checkout = checkouts.find(path)
    checkouts.require_clean(checkout)
    config = run_roles.checked(checkout, ROLES if how.headless else ("mayor",))
    known = registrations.known(checkout.folder)
    if how.headless:
        require(*branch_lacks(checkout, known))  # agents would start elsewhere
    if known is None:
        register(checkout, config)
    elif ci_of(checkout, config, known).command is None:
        say(without_ci(config))
    limit = float(limit_s) if how.headless else None
    return run_to_end(_start(checkout, text, how, limit))


async def _start(
    checkout: Checkout, text: str, how: Start, limit_s: float | None
) -> int:
    wanted: tuple[Role, ...] = ROLES if how.headless else ("mayor",)
    async with serving(checkout, wanted, say) as here:
        apart = checkouts.branches_apart(checkout, here.known)
        if how.headless and apart.own and apart.landed:
            said = "agents would start without your new commits: first run"
            raise BratError(f"{said} `brat pull`")
        comment = how.comment or how.plan_only * PLAN_ONLY
        title = (how.title or "").strip()
        issue, is_new = await _asked_issue(here, text, comment, title)
        say(f"opened issue #{issue}" if is_new else _FOUND.format(issue=issue))
        try:
            with _table(here, issue) if how.live else nullcontext():
                async with ending_agents(here, wanted), asyncio.timeout(limit_s):
                    await run_roles.until_done(here, also_locked=how.headless)
        except asyncio.CancelledError:
            say(f"issue #{issue} stays open; to continue: brat up")
            raise
        except TimeoutError:
            say(f"not finished after {limit_s:g} s; work is kept; to continue: brat up")
            return run_roles.TIMED_OUT
        convoy = _convoy_of(here, issue)
        status = run_roles.report(here, convoy.name if convoy else "", wanted)
        if convoy is None:
            say(f"there is no convoy for issue #{issue}")
            context = here.loop.context
            said_by = context.github.said_by(context.login, issue)
            last = [each.body or "" async for each in said_by][-1:] or [""]
            said = without_markers(last[0]).removeprefix(f"@{here.known.person} ")
            say(said or "the bot has not answered yet")
            return run_roles.BLOCKED
        _show(convoy, how)
        if how.live and (changed := summary(here.reader().path, convoy)):
            say(f"{changed}; to see the changes: brat diff")
        if how.plan_only or approval(convoy):
            say(f"nothing starts until you run: brat approve {convoy.name}")
        return run_roles.finished(convoy) if limit_s is not None else status


TITLE_CHARS: Final = 72
PLAN_ONLY: Final = "/brat start plan-only"
"""The comment that asks for a plan which waits for approval."""


_ITEM: Final = re.compile(r"\s*(?:[-*+]|\d+[.)])(?:\s+\[[ xX]\])?\s+(?=\S)")
"""How an item of a list begins."""


_DRESS: Final = re.compile(r"^(?:[ \t]*(?:#{1,6}[ \t]|>|```.*))+[ \t]*", re.MULTILINE)
"""What begins a heading or a quotation, or a whole line around code."""


def title_of(text: str) -> str:
    """Return the first line that says something, shortened."""
    lines = _DRESS.sub("", text).split("\n")
    first = next((line for line in lines if line.strip("`#>-*+ \t")), text).strip()
    if bullet := _ITEM.match(first):
        rest = (first[bullet.end() :],)
        item = Item(number=1, done=False, lines=rest, lead=1, quoted=frozenset())
        first = marked(item).text  # as its task is called
    return shortened(first, TITLE_CHARS)


async def _asked_issue(
    here: Local, text: str, comment: str, title: str
) -> tuple[int, bool]:
    """Ask for a convoy as one would on GitHub; safe to be cut off and to call again.

    Returns the issue, and whether it was opened just now. `comment` is said on it
    instead of labelling it, if any. Without a title it is the text's first line,
    shortened.
    """
    title = title or title_of(text)
    label = here.loop.context.settings.label
    labels = () if comment else (label,)
    state = here.reader().read()
    over = {known.issue for _, known in state.convoys.summaries()}
    live = {convoy.issue for convoy in state.live()}
    async with person(here.sync.url, here.known) as github:
        same = (
            issue
            for issue in await github.issues(creator=here.known.person)
            if (issue.title, issue.body or "") == (title, text)
        )
        found = next((one for one in same if one.number not in over - live), None)
        if found is None:
            number = await github.open_issue(title, text, labels)
        else:
            number = found.number
            if labels and number not in live and label not in found.label_names:
                await github.relabel(number, {label}, set())
        if comment and number not in live:
            await github.say(number, comment)
    here.loop.wake.all()
    return number, found is None


def _table(here: Local, issue: int) -> AbstractContextManager[object]:
    """Return what keeps the convoy's tasks on the terminal, below what is said."""
    if not err.is_terminal:
        return nullcontext()

    def table() -> RenderableType:
        convoy = _convoy_of(here, issue)
        return convoy_table(convoy) if convoy else ""

    return Live(console=err, transient=True, refresh_per_second=4, get_renderable=table)


def _show(convoy: Convoy, how: Start) -> None:
    if how.as_json:
        write(json.dumps(planned_document(convoy), indent=2))
        return
    out.print(convoy_table(convoy))
    if how.plan_only or convoy.waits_for_approval:
        out.print(plan_screen(convoy), soft_wrap=True)


def _convoy_of(here: Local, issue: int) -> Convoy | None:
    convoys = here.loop.context.mirror.state.convoys.newest_first()
    return next((c for c in convoys if c.issue == issue), None)


def _refuse(sentence: str) -> NoReturn:
    """Say what is wrong with the words, and end as on bad usage."""
    say(f"brat: {sentence}")
    raise SystemExit(2)


_HEAD: Final = "HEAD"
_SHOWN: Final = {"description", "inputs"}


def list_patterns(repo: Path, *, as_json: bool) -> int:
    """Print every pattern of the newest commit; return 1 when a pattern has faults."""
    checkout = checkouts.find(repo)
    found = list(_patterns(checkout))
    if as_json:
        write(json.dumps({"patterns": found}))
    else:
        table = Table("pattern", "inputs", "purpose", box=None)
        for each in found:
            needed = (f"{name}=…" for name in each["inputs"])
            has_errors = "has errors (see below)" if each["faults"] else ""
            told = has_errors or each["description"]
            table.add_row(each["name"], " ".join(needed), told)
        out.print(table)
    faults = [line for each in found for line in each["faults"]]
    for line in faults:
        say(line)
    return int(bool(faults))


def _patterns(checkout: Checkout) -> Iterator[dict[str, Any]]:
    commits = Commits(checkout.top)
    ours = own_patterns(commits.template_files(_HEAD))
    for name in (*ours, *(each for each in BUILT_IN if each not in ours)):
        known: dict[str, Any] = {"description": "", "inputs": {}}
        faults: list[str] = []
        try:
            known = commits.template(_HEAD, name).model_dump(include=_SHOWN)
        except PatternError as error:
            faults = str(error).splitlines()
        yield {"name": name, "file": ours.get(name), **known, "faults": faults}


def show_pattern(repo: Path, name: str, *, as_json: bool) -> None:
    commits = Commits(checkouts.find(repo).top)
    template = commits.template(_HEAD, name)
    if as_json:
        steps = [step.model_dump() for step in template.all_steps]
        known = template.model_dump(include=_SHOWN)
        write(json.dumps({"name": name, **known, "steps": steps}))
        return
    file = own_patterns(commits.template_files(_HEAD)).get(name)
    text = commits.template_text(_HEAD, file) if file else built_in_text(name)
    write(text.rstrip("\n"))


def run_pattern(
    repo: Path,
    name: str,
    task: str,
    values: Sequence[str],
    *,
    headless: bool,
    timeout: str | None,
) -> int:
    checkout = checkouts.find(repo)
    inputs = _inputs(values)
    settings = local_mode.configuration(checkout).settings()
    use = Use(
        name=name,
        title=task,
        text="",
        inputs=inputs,
        engines=settings.engines,
        limit=settings.tasks,
    )
    template = Commits(checkout.top).template(_HEAD, name)
    for warning in compiled(template, use).warnings:
        say(f"warning: {warning}")
    words = ["/brat start", f"pattern={name}"]
    for key, value in inputs.items():
        escaped = value.replace("\\", "\\\\").replace('"', '\\"')
        words.append(f'{key}="{escaped}"')
    how = Start(headless=headless, timeout=timeout, comment=" ".join(words))
    return mayor_start(repo, task, how)


def _inputs(values: Sequence[str]) -> dict[str, str]:
    inputs: dict[str, str] = {}
    for each in values:
        key, sign, value = each.partition("=")
        if not sign or not key.strip():
            _refuse(f'"{each}" is not an input: use -v name=value')
        if "\n" in value:
            _refuse(f"{key} has more than one line: move it to --task")
        inputs[key.strip()] = value
    return inputs
