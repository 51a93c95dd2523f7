"""Asks for a convoy as the person: opens an issue, or finds the one that asks for it.

A start that was cut off leaves its issue open, so the same words go on with it.
"""

from collections.abc import Collection
from typing import Final

from msgspec import Struct

from bot.forge.github import GitHub
from bot.forge.payloads import Issue
from brat.local import local_mode
from brat.local.local_mode import Local
from convoy.model.ids import without_markers
from convoy.text import shortened

TITLE_CHARS: Final = 72
PLAN_ONLY: Final = "/brat start plan-only"
"""The comment that asks for a plan which waits for approval."""


class Asked(Struct, frozen=True):
    """The issue that asks for the convoy."""

    issue: int
    opened: bool
    """Whether it was opened just now."""


async def asked(here: Local, text: str, comment: str, title: str = "") -> Asked:
    """Ask for a convoy as one would on GitHub; safe to be cut off and to call again.

    Args:
        here: the running local system.
        text: the issue's text.
        comment: what is said on the issue instead of labelling it; empty: the label.
        title: the issue's, one line; empty: the text's first line, shortened.
    """
    first, _, _ = text.strip().partition("\n")
    title = title or shortened(first.removeprefix("- [ ] "), TITLE_CHARS)
    label = here.loop.context.settings.label
    labels = () if comment else (label,)
    state = here.reader().read()
    over = {known.issue for _, known in state.convoys.summaries()}
    live = {convoy.issue for convoy in state.live()}
    async with local_mode.person(here.url, here.known) as github:
        found = await _open(github, here.known.person, (title, text), over - live)
        if found is None:
            number = await github.open_issue(title, text, labels)
        else:
            number = found.number
            if labels and number not in live and label not in found.label_names:
                await github.relabel(number, {label}, set())
        if comment and number not in live:
            await github.say(number, comment)
    here.loop.wake.all()
    return Asked(number, opened=found is None)


async def answer_on(here: Local, issue: int) -> str:
    """Return what the bot said last on an issue, without the name of who asked."""
    context = here.loop.context
    said = without_markers(await context.github.remarks.last_by(context.login, issue))
    return said.removeprefix(f"@{here.known.person} ") or "the bot has not answered yet"


async def _open(
    github: GitHub, person: str, words: tuple[str, str], over: Collection[int]
) -> Issue | None:
    """Return the person's open issue with these words, but for those that are over."""
    for issue in await github.issues_by(person):
        same = (issue.title, issue.body or "") == words
        if same and issue.number not in over:
            return issue
    return None
