"""The answers that a convoy's comment shows, the newest first, as Markdown. Pure."""

from collections.abc import Iterable
from typing import Final

from convoy.model.state import Convoy
from convoy.model.work import ShownAnswer
from convoy.text import fitting, inline

_OPEN: Final = 3
"""How many are to be seen without unfolding."""
_CHARS: Final = 4_000


def answer_lines(convoy: Convoy, web: str) -> list[str]:
    """Return the lines about what people asked; empty: nobody did.

    Args:
        convoy: the convoy.
        web: the repository's web address, for links to what was asked; empty: none.
    """
    if not convoy.answers:
        return []
    shown = [_item(convoy, each, web) for each in reversed(convoy.answers)]
    more = "- {}, older: `brat log show` tells them all"
    newest = fitting(shown[:_OPEN], more, _CHARS)
    older = shown[_OPEN:] if len(newest) == len(shown[:_OPEN]) else []
    older = fitting(older, more, _CHARS - sum(map(len, newest)))
    return ["**Answers**, the newest first:", "", *newest, "", *_folded(older)]


def _folded(older: Iterable[str]) -> list[str]:
    found = [*older]
    if not found:
        return []
    return [
        "<details><summary>Older answers</summary>",
        "",
        *found,
        "",
        "</details>",
        "",
    ]


def _item(convoy: Convoy, answer: ShownAnswer, web: str) -> str:
    first, *rest = answer.text.split("\n")
    lines = [f"- {inline(answer.by)}{_where(convoy, answer, web)}: {first}"]
    lines += [f"  {line}".rstrip() for line in rest]
    return "\n".join(lines)


def _where(convoy: Convoy, answer: ShownAnswer, web: str) -> str:
    """Return a link to what was asked, and the pull request it was asked on."""
    place = "" if answer.issue == convoy.issue else f" on #{answer.issue}"
    if not (web and answer.comment):
        return place
    url = f"{web}/issues/{answer.issue}#issuecomment-{answer.comment}"
    return f" ([asked]({url}){place})"
