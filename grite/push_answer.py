"""What a server answered to a push, ref by ref.

git tells it in two places: a line for each ref (`git push --porcelain`), and the lines
that the server and its hooks wrote, each after "remote:".
https://git-scm.com/docs/git-push#_output
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, Literal

from msgspec import Struct

Verdict = Literal["taken", "stale", "refused", "collateral"]

SAID_CHARS: Final = 2_000
_READ_CHARS: Final = 32_000
"""More of a server's message is not read."""
_REF_LINE: Final = re.compile(
    r"(?P<flag>[-+*=! ])\t[^\t]*:(?P<ref>[^\t:]+)\t(?P<summary>[^(]*)"
    r"(?:\((?P<reason>.*)\))?"
)
_ESCAPE: Final = re.compile(
    r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)?)"
)
_PREFIX: Final = re.compile(r"remote:|(?=error: remote unpack failed)")
_LEVEL: Final = re.compile(r"(?:(?:error|fatal|hint):\s*)+")
_EMPTY_TALK: Final = re.compile(
    r"\W*|.*hook declined to update refs/\S+|\.* ?Process(?:ing|ed) \d+ references.*"
    r"|[A-Z]\w+ (?:objects|deltas): .*"
)
_STALE: Final = frozenset(
    {
        "stale info",
        "fetch first",
        "already exists",
        "needs force",
        "remote ref updated since checkout",
        "remote failed to report status",
        "incorrect old value provided",
        "reference already exists",
        "reference does not exist",
    }
)
_COLLATERAL: Final = re.compile(r"atomic push fail(?:ed|ure)")
_ALIKE: Final = re.compile(
    r"pre-receive hook declined|atomic transaction failed|unpacker error"
    r"|repository rule violations|protected branch hook declined"
)
"""Reasons that a server can give for every ref of a push because of one of them."""
_EXPLICIT: Final = re.compile(r"GH\d{3}: (?P<rest>.*)")
_FOR_REF: Final = re.compile(r" for refs/\S")
"""How GitHub names the ref that it refuses: the one, and then the other."""
_LOCK: Final = re.compile(r"cannot lock ref '(?P<ref>[^']+)': (?P<why>.*)")
_NOT_LOCKED: Final = re.compile(r"transaction failed|fail(?:ed|ure) to|cannot lock")
_NO_PLACE: Final = re.compile(r"cannot create|cannot process")
"""A ref stands where another needs a folder: no race."""
_WHOLE: Final = re.compile(
    r"(?:returned error:|HTTP) 4(?!01|08|29)\d\d|Repository not found"
    r"|repository '[^']*' not found|Permission (?:denied|to \S+ denied)|remote error:"
    r"|archived|account is (?:suspended|disabled)|does not support --atomic"
)
"""Refusals of a whole request."""


class RefAnswer(Struct, frozen=True):
    ref: str
    """Full name."""
    verdict: Verdict
    """`stale`: it has to be read again, since it is not where it was expected or the
    server does not say where it is. `collateral`: nothing was wrong with this one."""
    said: str
    """What the server said of it, in one paragraph; empty if it said nothing."""


class PushAnswer(Struct, frozen=True):
    refs: tuple[RefAnswer, ...]
    """In the order in which they were asked for."""
    said: str
    """The server's whole message, one line for each of its own, bounded."""
    unnamed: bool = False
    """The push was refused as a whole: no single ref can be told apart."""

    @property
    def refused(self) -> tuple[RefAnswer, ...]:
        """Those that the server refused by name."""
        if self.unnamed:
            return ()
        return tuple(one for one in self.refs if one.verdict == "refused")


def push_answer(asked: Sequence[str], stdout: str, stderr: str) -> PushAnswer:
    """Return the answer to a push of the refs `asked`, by what git wrote of it."""
    found = _reasons(asked, stdout)
    lines = list(_server_lines(stderr[:_READ_CHARS]))
    if not found:
        return _whole(asked, lines, stderr)
    verdicts: dict[str, Verdict] = {}
    for ref, reason in found.items():
        verdict: Verdict = "stale" if reason in _STALE else "refused"
        if reason is None:
            verdict = "taken"
        elif _COLLATERAL.search(reason):
            verdict = "collateral"
        verdicts[ref] = verdict
    unnamed = _tell_apart(verdicts, found, lines)
    refused = [ref for ref, verdict in verdicts.items() if verdict == "refused"]
    own = dict.fromkeys(refused, lines)
    if len(refused) > 1 and not unnamed:
        own = _shares(refused, lines)
    answers = tuple(
        RefAnswer(
            ref,
            verdicts.get(ref, "collateral"),
            _paragraph(own[ref], found[ref]) if ref in own else "",
        )
        for ref in asked
    )
    reasons = dict.fromkeys(found[ref] or "" for ref in refused)
    said = [*_worth(lines), *(why for why in reasons if why)]
    return PushAnswer(answers, "\n".join(said)[:SAID_CHARS], unnamed)


def _reasons(asked: Sequence[str], stdout: str) -> dict[str, str | None]:
    """Return why each ref did not move; None for those that did."""
    found: dict[str, str | None] = {}
    for line in stdout.split("\n"):
        told = _REF_LINE.fullmatch(line)
        if told is not None and told["ref"] in asked:
            reason = _clean(told["reason"] or told["summary"])
            if told["summary"] == "[rejected] " and reason == "non-fast-forward":
                reason = "fetch first"  # git here says so, not the server
            found[told["ref"]] = reason if told["flag"] == "!" else None
    return found


def _server_lines(stderr: str) -> Iterator[str]:
    for line in re.split(r"[\r\n]+", stderr):
        prefix = _PREFIX.match(line)
        if prefix is not None:
            yield _LEVEL.sub("", _clean(line[prefix.end() :]), count=1).strip()


def _clean(text: str) -> str:
    """Return text without colours, control characters and runs of spaces."""
    plain = _ESCAPE.sub("", text).replace("\t", " ")
    shown = "".join(c for c in plain if not unicodedata.category(c).startswith("C"))
    return re.sub(r"\s+", " ", shown).strip()


def _whole(asked: Sequence[str], lines: list[str], stderr: str) -> PushAnswer:
    """Return the answer when git printed no line for any ref."""
    ends = [
        _clean(line.partition(": ")[2])
        for line in re.split(r"[\r\n]+", stderr[-_READ_CHARS:])
        if line.startswith(("fatal: ", "error: ", "ERROR: "))
        and "failed to push some refs" not in line
    ]
    text = "\n".join([*_worth(lines), *ends])[:SAID_CHARS]
    refused = _WHOLE.search(text) is not None
    verdict: Verdict = "refused" if refused else "collateral"
    said = text.replace("\n", " ") if refused else ""
    return PushAnswer(
        tuple(RefAnswer(ref, verdict, said) for ref in asked), text, refused
    )


def _tell_apart(
    verdicts: dict[str, Verdict], found: Mapping[str, str | None], lines: Sequence[str]
) -> bool:
    """Correct the verdicts by what the message names; return whether it names none."""
    refused = {ref: found[ref] or "" for ref in verdicts if verdicts[ref] == "refused"}
    alike = [ref for ref, reason in refused.items() if _ALIKE.search(reason)]
    named: dict[str, Verdict] = {}
    for lock in filter(None, map(_LOCK.search, lines)):
        if _NOT_LOCKED.search(refused.get(lock["ref"], "")):
            has_no_place = _NO_PLACE.search(lock["why"])
            named[lock["ref"]] = "refused" if has_no_place else "stale"
    if not named:
        ruled = ((line, _EXPLICIT.search(line)) for line in lines)
        explicit = [line for line, by in ruled if by and _FOR_REF.search(by["rest"])]
        text = "\n".join(explicit or lines)
        meant = [ref for ref in alike if _naming(ref).search(text)]
        if explicit or len(meant) < len(alike):  # else it may mean each
            named = dict.fromkeys(meant, "refused")
    if named or len(refused) > len(alike):
        if named or len(alike) > 1:
            verdicts.update(dict.fromkeys(alike, "collateral"))
        verdicts.update(named)
        return False
    return len(alike) > 1


def _naming(ref: str) -> re.Pattern[str]:
    """Return how a message means this ref: by its full name, or plainly as a branch."""
    names = [re.escape(ref)]
    short = ref.removeprefix("refs/heads/")
    if short != ref:
        quoted = re.escape(short)
        names += [rf"branch {quoted}", rf"['\"`]{quoted}(?=['\"`])"]
        names += [quoted] if "/" in short else []
    return re.compile(rf"(?<![\w/.-])(?:{'|'.join(names)})(?![\w/-]|\.\w)")


def _shares(refused: Sequence[str], lines: Sequence[str]) -> dict[str, list[str]]:
    """Share the message out among the refs that it names.

    A hook's words stand before "hook declined to update REF"; GitHub's follow the line
    that names the ref.
    """
    shares: dict[str, list[str]] = {ref: [] for ref in refused}
    naming = {ref: _naming(ref) for ref in refused}
    owner: str | None = None
    pending: list[str] = []
    for line in lines:
        likely = (ref for ref in refused if ref.rpartition("/")[2] in line)
        named = next((ref for ref in likely if naming[ref].search(line)), None)
        if named is not None and owner not in {None, named}:
            shares[owner or named] += pending
            pending = []
        owner = named or owner
        pending.append(line)
        if owner is not None and "hook declined to update" in line:
            shares[owner] += pending
            owner, pending = None, []
    if owner is not None:
        shares[owner] += pending
    return shares


def _worth(lines: Sequence[str]) -> list[str]:
    return [line for line in lines if not _EMPTY_TALK.fullmatch(line)]


def _paragraph(lines: Sequence[str], reason: str | None) -> str:
    text = " ".join(_worth(lines))[:SAID_CHARS]
    if not reason or reason in text:
        return text
    return f"{text} ({reason})" if text else reason
