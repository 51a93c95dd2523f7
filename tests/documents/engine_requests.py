"""What each engine sends to its model's vendor, as `tests/engines/record.py` saw it."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from tests.engines.record import kept

_WORDS: Final = {
    "anthropic": "Anthropic's messages",
    "chat": "OpenAI's chat completions",
    "responses": "OpenAI's responses",
    "gemini": "Gemini's generateContent",
}


def tables() -> str:
    found = kept()
    return "\n".join(_table(words, found[name]) for name, words in _WORDS.items())


def _table(words: str, engines: Mapping[str, Mapping[str, Any]]) -> str:
    names = sorted(engines)
    lines = [["", *(f"`{name}`" for name in names)], ["---"] * (len(names) + 1)]
    lines.append(["version", *(engines[name]["version"] for name in names)])
    for part in ("paths", "headers", "fields"):
        lines += _rows(part, [engines[name][part] for name in names])
    table = "".join(f"| {' | '.join(each)} |\n" for each in lines)
    return f"### {words}\n\n{table}"


def _rows(part: str, sent: Sequence[Sequence[str]]) -> Iterator[list[Any]]:
    kind = "header " if part == "headers" else ""
    for each in sorted({one for some in sent for one in some}):
        yield [f"{kind}`{each}`", *("yes" if each in some else "" for some in sent)]
