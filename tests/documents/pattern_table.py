"""The table of brat's own patterns, made from their files."""

from collections.abc import Iterator

from convoy.patterns import BUILT_IN, built_in_pattern


def table() -> str:
    rows = ["| pattern | what it is for | inputs |", "|---|---|---|"]
    for name in BUILT_IN:
        inputs = ", ".join(_inputs(name)) or "none"
        rows.append(f"| `{name}` | {built_in_pattern(name).description} | {inputs} |")
    return "".join(f"{row}\n" for row in rows)


def _inputs(name: str) -> Iterator[str]:
    for key, each in built_in_pattern(name).inputs.items():
        default = f" (`{each.default}`)" if each.default else ""
        needed = " (required)" if each.default is None else default
        yield f"`{key}`{needed}: {each.description}"
