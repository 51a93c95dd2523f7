"""Finds `@login` of the bot in a plain paragraph of Markdown.

Text in code, quotes, links or lists only talks about the bot, as with commands, and
what a mail program appended to a reply is not read.
https://docs.github.com/get-started/writing-on-github (mentions)
"""

import re
from functools import cache
from itertools import pairwise

from markdown_it import MarkdownIt

from bot.markdown.mail_separators import own_end
from convoy.text import clean

_MARKDOWN = MarkdownIt("commonmark").enable(["table", "strikethrough"])


def may_mention(text: str, login: str) -> bool:
    """Whether a text is worth parsing for a mention of the bot."""
    return bool(login) and _name(login).search(text) is not None


def mentioned(text: str, login: str) -> str | None:
    """Return its author's words without the bot's name; None: the name is not there.

    Args:
        text: Markdown, from anybody.
        login: the bot's account; an App `name[bot]` is mentioned as `@name`.
    """
    text = clean(text)
    if not may_mention(text, login):
        return None
    tokens, lines = _MARKDOWN.parse(text), text.split("\n")
    own = own_end(lines, tokens)
    text = "\n".join(lines[:own])
    for opening, inline in pairwise(tokens):
        if opening.map and opening.map[0] >= own:
            break
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
