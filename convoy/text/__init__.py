"""Text from outside and for people: cleaned, cut, escaped, fenced, named.

`clean` comes first for whatever a stranger wrote. In our Markdown `harmless` and
`inline` let no mark, name or link of it work, in a prompt `fenced` puts it behind a
name that nobody could guess, and `json_answer` takes an agent's answer out of it. A
commit message is made `inert`: it must not keep CI from the commit, nor close
somebody's issue when it lands, nor speak in somebody else's name.

A forge refuses as a whole what is longer than it takes; all lengths here are counted in
characters. A convoy's name is the title's letters and digits, a dash, and the issue's
number: always good as one part of a git branch, and never longer than 40, because it
stands in branches, labels and run names.
"""

import hashlib
import json
import re
from collections.abc import Collection, Iterable, Sequence
from datetime import UTC, datetime
from itertools import accumulate, count
from typing import Any, Final
from unicodedata import combining, normalize

from grite.errors import BratError

TEXT_CHARS = 262_144
"""Longer than any forge's issue; what is beyond it is not read."""

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]P^_X][^\x07\x1b\n]*(?:\x07|\x1b\\)")
"""Also whole commands, such as a window's title or a link's address.
https://invisible-island.net/xterm/ctlseqs/ctlseqs.html
"""
_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,32}m)")
# What is there but cannot be seen: control characters but tab and newline, surrogates,
# format characters (bidirectional, zero-width, tags), variation selectors, fillers, and
# what Unicode says is ignored where it is unknown.
# https://www.unicode.org/Public/16.0.0/ucd/DerivedCoreProperties.txt
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f"
    "\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f"
    "\u2028-\u202e\u2060-\u206f\u2800\u3164\ud800-\udfff\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def clean(text: str, *, colours: bool = False) -> str:
    """Return `text` without control codes and invisible characters; safe to do twice.

    Its lines end in newlines only, and it can be written as UTF-8. What Markdown hides
    stays: `bot.text.visible_text` takes that away too. With `colours`, what sets the
    looks of a terminal's text stays (`ESC [ 31 m`).
    """
    text = text[:TEXT_CHARS].replace("\r\n", "\n").replace("\r", "\n")
    if colours:
        parts = enumerate(_COLOUR.split(text))
        return "".join(part if at % 2 else clean(part) for at, part in parts)
    return _UNSEEN.sub("", _ANSI.sub("", text))


def cut(text: str, room: int) -> str:
    """Return at most `room` (1 or more) characters; `…` shows that it was cut."""
    return text if len(text) <= room else f"{text[: room - 1].rstrip()}…"


def with_line_ends_of(before: bytes, after: bytes) -> bytes | None:
    """Return a text with the line ends that all of it had, or None if it has them."""
    had, lines = before.count(b"\r\n"), before.count(b"\n")
    has, news = after.count(b"\r\n"), after.count(b"\n")
    if not lines or b"\0" in before or b"\0" in after:
        return None
    plain = after.replace(b"\r\n", b"\n")
    if had == lines and has < news:
        return plain.replace(b"\n", b"\r\n")
    return plain if b"\r" not in before and has == news else None


def full_stop(text: str) -> str:
    """Return `text` as a sentence that ends once."""
    return text if text.endswith(("?", "!", "…")) else f"{text.rstrip('. ')}."


def shortened(text: str, room: int) -> str:
    """Return at most `room` characters, cut between words where there is a blank."""
    if len(text) <= room:
        return text
    words = text[: room - 1].rsplit(" ", 1)[0].rstrip(" ,;:.")
    return f"{words or text[: room - 1]}…"


INLINE_CHARS: Final = 160
_HARMLESS: Final = str.maketrans(
    {mark: f"\\{mark}" for mark in "\\|`[*_~"}
    # GitHub looks for names and numbers when the escapes are gone already, and `brat`
    # for its markers before.
    | {"@": "@\u200b", "#": "#\u200b", "&": "&amp;", "<": "&lt;"}
)


def harmless(text: str) -> tuple[str, ...]:
    """Return hostile text as harmless lines, whole."""
    lines = closing_nothing(clean(text).strip()).split("\n")
    return tuple(line.strip().translate(_HARMLESS) for line in lines)


def inline(text: str) -> str:
    """Return hostile text as one harmless line of a table."""
    line = closing_nothing(" ".join(clean(text).split()))
    return line[:INLINE_CHARS].translate(_HARMLESS)


def fitting(lines: list[str], more: str, chars: int) -> list[str]:
    """Return as many lines as fit, and in `more` how many are left out.

    `more` has a place for "and 3 more", and says where those are.
    """
    kept = _within(lines, chars)
    left_out = len(lines) - len(kept)
    return [*kept, more.format(f"and {left_out} more")] if left_out else lines


def _within(lines: list[str], chars: int) -> list[str]:
    ends = accumulate(len(line) + 1 for line in lines)
    return lines[: sum(end <= chars for end in ends)]


POST_CHARS: Final = 64_000
"""The longest text of an issue, a pull request or a comment that a bot makes. GitHub
answers one over 65,536 with 422; the rest is room for a marker."""
SUMMARY_CHARS: Final = 65_535
"""Of a check run. https://docs.github.com/rest/checks/runs#create-a-check-run"""
TITLE_CHARS: Final = 256
"""Of an issue or a pull request: "title is too long (maximum is 256 characters)"."""
STATUS_CHARS: Final = 140
"""Of a commit status's description, by the same kind of answer."""
LABEL_CHARS: Final = 50
"""Of a label's name: "name is too long (maximum is 50 characters)". A description may
have 100: https://docs.github.com/rest/issues/labels#create-a-label"""
_CODE_FENCE: Final = "```"


def posted(text: str, rest: str, room: int = POST_CHARS) -> str:
    """Return a text that a forge takes, cut between lines; `rest` ends it."""
    if len(text) <= room:
        return text
    kept = _within(text.split("\n"), room - len(rest) - len(_CODE_FENCE) - 4)
    is_open = sum(line.lstrip().startswith(_CODE_FENCE) for line in kept) % 2
    return "\n".join((*kept, *[_CODE_FENCE] * is_open, "", rest))


_FENCE: Final = re.compile(r"[A-Za-z0-9-]{8,80}")


def fence_of(session: str) -> str:
    """Return the fence of one session's prompt.

    `session` was drawn at random after all that the prompt quotes was written, and is
    in the log: so it is found again. It is hashed, for whoever knows it may speak as
    the session.
    """
    return f"data-{hashlib.blake2b(session.encode(), digest_size=8).hexdigest()}"


def fenced(text: str, fence: str) -> str:
    """Wrap a text for a model between two lines that do not occur in it.

    Args:
        text: data, from whoever.
        fence: a name that was drawn at random for this one prompt.

    Raises:
        ValueError: the fence is not 8 to 80 letters, digits and dashes.
    """
    if not _FENCE.fullmatch(fence):
        raise ValueError(
            f"a fence is 8 to 80 letters, digits and dashes, not {fence!r}"
        )
    data = re.sub(re.escape(fence), "\u2026", text, flags=re.IGNORECASE)
    return f"<{fence}>\n{data}\n</{fence}>"


def code_block(text: str) -> str:
    """Return `text` as a block of code in Markdown that nothing in it ends."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{text}\n{fence}"


JSON_CHARS: Final = 200_000
_BLOCK: Final = re.compile(
    r"^```(?:json)?[^\S\n]*+\n(.*?)^```", re.MULTILINE | re.DOTALL
)


class Unfit(BratError):
    """An answer cannot be used; `faults`, a sentence each, go to the next attempt."""

    def __init__(self, *faults: str) -> None:
        super().__init__(" ".join(faults))
        self.faults = faults


def json_answer(text: str, what: str) -> Any:  # noqa: ANN401  any JSON
    """Return what the last block of JSON says, or all from the first brace on.

    Raises:
        Unfit: there is none.
    """
    if len(text) > JSON_CHARS:
        raise Unfit(f"The {what} is longer than {JSON_CHARS} characters.")
    blocks = _BLOCK.findall(text)
    whole = blocks[-1] if blocks else text[text.find("{") : text.rfind("}") + 1]
    if not whole.strip():
        raise Unfit("The answer contains no JSON object.")
    try:
        return json.loads(whole)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"The {what} is not JSON: {error}.") from error


# GitHub, GitLab, Azure, Travis, CircleCI, AppVeyor, Netlify, ... and their spellings:
# https://docs.github.com/actions/how-tos/manage-workflow-runs/skip-workflow-runs
# https://learn.microsoft.com/azure/devops/pipelines/repos/azure-repos-git (NO_CI)
_SKIPS: Final = re.compile(
    r"\[ *((?:skip|no)[ _-][\w .-]{2,30}?|[\w .-]{2,30}[ _-]skip) *\]", re.IGNORECASE
)
_NO_CI: Final = re.compile(r"\*{3}(NO_CI)\*{3}", re.IGNORECASE)
# https://docs.github.com/issues/tracking-your-work-with-issues/using-issues/linking-a-pull-request-to-an-issue
_CLOSING: Final = (
    r"(?<![a-z0-9])(clos(?:e[sd]?|ing)|(?:fix|implement)(?:e[sd]|s|ing)?"
    r"|(?:resolv|complet)(?:e[sd]?|ing))([*_]*+):?+([*_]*+)\s++"
)
_CLOSES: Final = re.compile(
    rf"{_CLOSING}(?=[\[<(*_]{{0,4}}(?:(?:[\w.-]+/[\w.-]+|AB)?#\d|GH-\d"
    r"|https?://\S+/(?:issues|pull)/\d))",
    re.IGNORECASE,
)
# Of Jira and Linear, by their form, but for standards that are named alike.
# https://linear.app/docs/github
_KEY: Final = r"(?-i:\b(?!(?:GH|UTF|SHA|ISO|RFC|CVE|CWE|PEP|AES)-)[A-Z][A-Z0-9]+-\d+)"
_CLOSES_KEYS: Final = re.compile(
    rf"{_CLOSING}(?:[\[<(*_]{{0,4}}(?:https?://linear\.app/[\w/-]*/)?{_KEY}"
    r"[\])>*_,;&\s]*(?:and\s)?)+",
    re.IGNORECASE,
)
# https://support.atlassian.com/jira-software-cloud/docs/process-issues-with-smart-commits
_SMART_LINE: Final = re.compile(rf"{_KEY}.*")
_SMART: Final = re.compile(r"(?<=[ \t])#(?=[a-z])", re.IGNORECASE)
_MENTION: Final = re.compile(r"(?<![\w.+/-])@(?=[a-z0-9])", re.IGNORECASE)

AUTHOR: Final = ("brat", "brat@users.noreply.github.com")
"""The name and the address with which sessions commit."""
SIGNED_OFF: Final = "Signed-off-by: {} <{}>".format(*AUTHOR)
"""https://developercertificate.org"""
_OF_OTHERS: Final = re.compile(
    rf"^(?!{re.escape(SIGNED_OFF)}[ \t]*$)([ \t]*[a-z][a-z-]*-by)[ \t]*:",
    re.IGNORECASE | re.MULTILINE,
)
# What release-please, GitHub and others read, wherever a line begins with it.
_TRAILERS: Final = re.compile(
    r"(?<=\n)(?!Brat-|Signed-off-by:)([ \t]*(?:[a-z]\w*(?:-\w+)+|breaking change))"
    r"(?:[ \t]*+:[ \t]*(?= #)|[ \t]*(?= #)|[ \t]*+:)",
    re.IGNORECASE,
)
# `feat(x): `, `net/http: `, `[docs] `, `ABC-12 `: how projects begin their subjects.
_FORMED: Final = re.compile(r"(?:[\w./()!-]{1,40}: |\[[^\]]{1,40}\] |[A-Z]+-\d+ )\S")
SUBJECT_CHARS: Final = 100
"""The longest subject that is taken over; commitlint's limit."""
_TRAILER: Final = re.compile(r"[\w-]+: ")


def inert(message: str) -> str:
    """Return the message without what makes GitHub act on it; safe to call twice.

    What cannot be seen is gone. `[skip ci]` and its like stand in round brackets,
    `Fixes #12` is `Fixes issue #12`, which closes nothing, as `Fixes ENG 12`, and
    `@name` is `@ name`. `Signed-off-by: `, `Release-As: ` and their like are no
    trailers without their colon; only the session's own sign-off and brat's are left.
    """
    text = _NO_CI.sub(r"\1", _SKIPS.sub(r"(\1)", clean(message)))
    text = _TRAILERS.sub(r"\1", _OF_OTHERS.sub(r"\1", text))
    text = closing_nothing(text)  # it joins lines
    text = _SMART_LINE.sub(lambda found: _SMART.sub("# ", found[0]), text)
    return _MENTION.sub("@ ", text)


def closing_nothing(text: str) -> str:
    """Return a text in which `Fixes #12` is `Fixes issue #12`, which closes nothing."""
    text = _CLOSES_KEYS.sub(lambda found: re.sub(r"-(?=\d)", " ", found[0]), text)
    return _CLOSES.sub(r"\1\2\3 issue ", text)


def squashed(message: str, said: Iterable[str]) -> str:
    """Return the message of a squash, with what commitlint and DCO look for.

    The first subject of the form in which projects begin theirs stands for the
    message's, and the session's own sign-off is kept. `said` are the messages of the
    commits, oldest first.
    """
    given = [inert(each) for each in said]
    subjects = (each.partition("\n")[0].strip() for each in given)
    fit = (each for each in subjects if _FORMED.match(each))
    subject = next((each for each in fit if len(each) <= SUBJECT_CHARS), None)
    if subject is not None:
        message = f"{subject}\n{message.partition(chr(10))[2]}"
    if any(SIGNED_OFF in each.split("\n") for each in given):
        # https://git-scm.com/docs/git-interpret-trailers
        text = message.rstrip("\n")
        last = text.rpartition("\n\n")[2]
        is_open = "\n\n" in text and all(map(_TRAILER.match, last.split("\n")))
        message = f"{text}{chr(10) if is_open else chr(10) * 2}{SIGNED_OFF}\n"
    return message


def nearest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name most like `name`, or None when none is like it.

    Case does not count; of two that are equally like it, the first of the alphabet.
    """
    from difflib import get_close_matches  # it takes 2 ms, and few names are wrong

    folded = {each.casefold(): each for each in sorted(known, reverse=True)}
    close = get_close_matches(name[:100].casefold(), sorted(folded), n=1)
    return folded[close[0]] if close else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `; did you mean X?`, or nothing when no known name is like `name`."""
    found = nearest(name, known)
    return f"; did you mean {found}?" if found else ""


NAME_CHARS = 40
"""Characters of a name, with number and suffix."""

_APOSTROPHES = re.compile("['\u2019\u02bc]")
_OTHERS = re.compile(r"[^a-z0-9]+")


def slug(title: str) -> str:
    """Return the title in `[a-z0-9-]`, not cut; empty when it has no usable letter.

    Accents are dropped (`é` is `e`); letters of other scripts only separate words.
    """
    folded = normalize("NFKD", _APOSTROPHES.sub("", title)).casefold()
    letters = "".join(letter for letter in folded if not combining(letter))
    return _OTHERS.sub("-", letters).strip("-")


def convoy_name(title: str, issue: int, taken: Collection[str]) -> str:
    """Return `<slug>-<issue>`, or with `-2`, `-3` behind it when that is taken.

    A title without a usable letter gives `convoy-<issue>`.
    """
    words = slug(title) or "convoy"
    tails = (f"-{issue}" if turn == 1 else f"-{issue}-{turn}" for turn in count(1))
    names = (_shortened_slug(words, NAME_CHARS - len(tail)) + tail for tail in tails)
    return next(name for name in names if name not in taken)


def _shortened_slug(words: str, room: int) -> str:
    """Shorten to `room` characters, between two words where there is such a place."""
    if len(words) <= room:
        return words
    whole, dash, _ = words[: room + 1].rpartition("-")
    return whole if dash else words[:room]


JUST_S: Final = 2
"""What is younger than this is now."""
_MINUTE_S: Final = 60
_HOUR_S: Final = 3600
_DAY_S: Final = 86_400


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, whose plural takes an s: `1 task`, `2 tasks`."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def numbered(tasks: Sequence[int]) -> str:
    """Return `task 3`, or `tasks 3, 5, 6`."""
    return f"task{'s' * (len(tasks) > 1)} {', '.join(map(str, tasks))}"


def clock(at: int) -> str:
    """Return a time (unix ms) as people read it, to the second, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%d %H:%M:%S} UTC"


def iso(at: int) -> str:
    """Return a time (unix ms) as programs read it, in UTC."""
    return f"{datetime.fromtimestamp(at / 1000, UTC):%Y-%m-%dT%H:%M:%SZ}"


def ago(at: int, now: int) -> str:
    """Return how long before `now` a time was (both unix ms), as people say it."""
    since = max(0, now - at) // 1000
    if since < JUST_S:
        return "just now"
    return f"{rough(since)} ago"


def rough(length_s: float) -> str:
    """Return a length of time in one unit, the largest that fits twice."""
    if length_s < 2 * _MINUTE_S:
        return f"{length_s:.0f} s"
    if length_s < 2 * _HOUR_S:
        return f"{length_s / _MINUTE_S:.0f} min"
    if length_s < 2 * _DAY_S:
        return f"{length_s / _HOUR_S:.0f} h"
    return f"{length_s / _DAY_S:.0f} days"


_DURATION = re.compile(r"(?:([0-9]{1,6})h)?(?:([0-9]{1,6})m)?(?:([0-9]{1,6})s)?")


def seconds_in(text: str) -> int:
    """Return the seconds that `text` stands for.

    Raises:
        ValueError: `text` is no such length of time.
    """
    match = _DURATION.fullmatch(text)
    if not match or not text:
        raise ValueError(f"{text!r} is not a duration such as 90s, 30m or 1h30m")
    hours, minutes, rest = (int(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + rest


def spoken_duration(length_s: int) -> str:
    """Write seconds (0 or more) as `seconds` reads them, as short as it goes."""
    minutes, rest = divmod(length_s, 60)
    hours, minutes = divmod(minutes, 60)
    parts = ((hours, "h"), (minutes, "m"), (rest, "s"))
    return "".join(f"{count}{unit}" for count, unit in parts if count) or "0s"
