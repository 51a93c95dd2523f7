"""`make pictures-on-github`: what people see of a convoy on GitHub, before and after.

A convoy of sub-issues is played on the tests' GitHub: a review bot speaks of a line, a
person approves, and all of it lands. What stands on the page was written by that story;
GitHub's own Markdown renderer and style sheet show it.
"""

import argparse
import asyncio
from collections.abc import Iterator
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from cmarkgfm import (  # type: ignore[import-untyped]  # it ships no types
    github_flavored_markdown_to_html,
)
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.bot.requests.test_review_threads import FILES, let_bot_in, lines_of, review
from tests.bot.roles.test_sub_issues import begun, blocked, opened
from tests.bot.room import REPO, Room, room
from tests.world import browser as browsers, npm
from tests.world.forge_rules import pull_request, put_ruleset
from tests.world.github_forge.extension import github

WHERE: Final = Path(__file__).parents[2] / ".artifacts" / "on-github"
STYLES: Final = Path(__file__).parents[1] / "npm"
CONFIG: Final = """\
[refinery]
checks = ["ci"]
[review]
bots = ["coder[bot]"]
"""
TEXT: Final = "Sign-in tokens never expire. Give them a lifetime, and test it."
LOOK: Final = """\
body { margin: 24px auto; max-width: 1740px; font: 14px system-ui; color: #1f2328 }
h1 { font-size: 20px } .two { display: grid; grid-template-columns: 1fr 1fr; gap: 24px }
.two > div { min-width: 0 } .box { border: 1px solid #d1d9e0; border-radius: 6px;
margin: 12px 0; overflow: hidden } .by { background: #f6f8fa; padding: 8px 16px;
border-bottom: 1px solid #d1d9e0 } .markdown-body { padding: 16px; font-size: 14px }
.pill { border-radius: 2em; padding: 2px 10px; background: #ddf4ff; margin-left: 6px }
.hunk { background: #f6f8fa; padding: 8px 16px; margin: 0; font: 12px monospace }
"""


def ruled(service: Service) -> Extension:
    """Serve GitHub with a rule that asks for an approval."""
    put_ruleset(service.forge, pull_request(approvals=1), repo=REPO)
    return github(service)


def rendered(text: str) -> str:
    """Return Markdown as GitHub shows it."""
    return str(github_flavored_markdown_to_html(text, Options.CMARK_OPT_UNSAFE))


def box(by: str, text: str, hunk: str = "") -> str:
    code = f'<pre class="hunk">{escape(hunk)}</pre>' if hunk else ""
    body = rendered(text or "*No description provided.*")
    return (
        f'<div class="box">{code}<div class="by"><b>{escape(by)}</b></div>'
        f'<div class="markdown-body">{body}</div></div>'
    )


def issue_page(here: Room, number: int) -> str:
    """Return an issue or a pull request with all that was said on it."""
    store = here.forge.store
    (issue,) = (each for each in store.issues.all() if each.number == number)
    pulls = (each for each in store.pulls.all() if each.number == number)
    pull = next(pulls, None)
    state = "merged" if pull and pull.merged_at else issue.state
    pills = "".join(
        f'<span class="pill">{escape(each)}</span>'
        for each in (state, *sorted(here.labels(number)))
    )
    said = (each for each in store.comments.all() if each.issue == issue.id)
    parts = (
        box(_login(here, issue.author), issue.body or ""),
        *(box(_login(here, each.author), each.body) for each in said),
    )
    return f"<h3>{escape(issue.title)} #{number}{pills}</h3>{''.join(parts)}"


def thread_page(here: Room) -> str:
    lines = lines_of(here)
    state = "resolved" if lines[0].is_resolved else "open"
    parts = (
        box(_login(here, each.user), each.body, "" if each.begins else each.hunk)
        for each in lines
    )
    return f'<h3>Conversation<span class="pill">{state}</span></h3>{"".join(parts)}'


def _login(here: Room, user: int) -> str:
    found = here.forge.store.users.get(user)
    return found.login if found else "ghost"


async def story(folder: Path) -> Iterator[tuple[str, str, str]]:
    """Play it; return what is shown, before and after, with its name."""
    opened_room = room(
        folder, CONFIG, text=TEXT, labelled=False, delivered=True, extend=ruled
    )
    async with opened_room as here:
        kept = {**FILES, ".brat/config.toml": CONFIG.encode()}
        asked = "Tokens carry `expires`, an hour from now.\n\n- in `one.py`\n- tested"
        first = await opened(here, "Give tokens a lifetime", here.issue, asked)
        second = await opened(here, "Refuse expired tokens", here.issue, "With a 401.")
        await blocked(here, second, first)
        sub_before = issue_page(here, first)
        await begun(here)
        await here.until(lambda: here.labels(second) == {"brat:queued"})
        issue_before = issue_page(here, here.issue)

        await here.worked(1, kept)
        await here.until(lambda: here.task(1).pull)
        says = "This never ends where `two` is zero.\n\n```suggestion\n2\n```"
        line = {"path": "one.py", "line": 2, "body": says}
        await review(here, let_bot_in(here, "coder[bot]"), line)
        await here.until(lambda: here.task(1).state == "queued")
        thread_before = thread_page(here)
        kept["one.py"] = b"one\n2\n3\n"
        await here.worked(1, kept)
        await here.until(lambda: lines_of(here)[0].is_resolved)
        thread_after = thread_page(here)

        await here.until(lambda: here.task(1).state == "merged", red=frozenset())
        await here.worked(2, {**kept, "test_one.py": b"two\n"})
        await here.until(lambda: here.convoy.pull, red=frozenset())
        await here.until(lambda: here.convoy.landing_waits, red=frozenset())
        pull = here.convoy.pull or 0
        pull_before = issue_page(here, pull)
        approval = {"event": "APPROVE", "body": "Good."}
        await here.asked("POST", f"pulls/{pull}/reviews", approval, here.let_in("bea"))
        await here.until(lambda: here.convoy.ended, red=frozenset())
        await here.until(lambda: here.labels() == {"brat:complete"})
        return iter(
            (
                ("The issue", issue_before, issue_page(here, here.issue)),
                ("A sub-issue", sub_before, issue_page(here, first)),
                ("A thread", thread_before, thread_after),
                (
                    "The convoy's pull request",
                    pull_before,
                    issue_page(here, pull),
                ),
            )
        )


async def take(folder: Path) -> None:
    """Play the story; write one page, and a picture of it."""
    with TemporaryDirectory(prefix="brat-pictures-") as name:
        shown = await story(Path(name))
    css = npm.installed(STYLES) / "github-markdown-css" / "github-markdown-light.css"
    rows = "".join(
        f'<h1>{title}</h1><div class="two"><div>{before}</div><div>{after}</div></div>'
        for title, before, after in shown
    )
    style = f"<style>{css.read_text(encoding='utf-8')}{LOOK}</style>"
    page = folder / "on-github.html"
    page.write_text(f"<!doctype html><meta charset=utf-8>{style}{rows}")
    async with browsers.launched() as browser, browsers.tab(browser, "light") as tab:
        await tab.page.set_viewport_size({"width": 1800, "height": 900})
        await tab.page.goto(page.as_uri())
        await tab.page.screenshot(path=page.with_suffix(".png"), full_page=True)


def main() -> None:
    """Write the page to where the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=WHERE)
    folder: Path = parser.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    asyncio.run(take(folder))


if __name__ == "__main__":
    main()
