"""Finds `@login` of the bot in a plain paragraph of Markdown.

Text in code, quotes, links or lists only talks about the bot, as with commands.
https://docs.github.com/get-started/writing-on-github (mentions)
"""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt

from convoy.text.plaintext import clean

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def may_mention(text: str, login: str) -> bool:
    """Whether a text is worth parsing for a mention of the bot."""
    return bool(login) and _name(login).search(text) is not None


def mentioned(text: str, login: str) -> str | None:
    """Return a text without the bot's name; None: it does not mention the bot.

    Args:
        text: Markdown, from anybody.
        login: the bot's account; an App `name[bot]` is mentioned as `@name`.
    """
    text = clean(text)
    if not may_mention(text, login):
        return None
    for opening, inline in pairwise(_MARKDOWN.parse(text)):
        if opening.type != "paragraph_open" or opening.level:
            continue
        depth = 0
        for token in inline.children or []:
            depth += token.nesting
            if token.type == "text" and not depth and may_mention(token.content, login):
                return _name(login).sub("", text).strip(" \t\n,:")
    return None


@cache
def _name(login: str) -> re.Pattern[str]:
    name = re.escape(login.removesuffix("[bot]"))
    return re.compile(rf"(?<![\w@/.`-])@{name}(?:\[bot\])?(?![\w-])", re.IGNORECASE)
