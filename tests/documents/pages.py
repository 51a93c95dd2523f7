"""What documents say that follows from the code: `make docs` writes it.

Each part stands between two marks, `<!-- NAME: made by make docs -->` and
`<!-- end of NAME -->`, or is a whole file. A test fails while one is out of date.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from bot.requests import verb_table
from tests.documents import (
    command_words,
    engine_tables,
    log_format,
    tables,
    workflow_keys,
)
from tests.mutants.report import with_list

ROOT: Final = Path(__file__).parents[2]


class Part(NamedTuple):
    file: str
    """The document, below the repository's top."""
    remake: Callable[[str], str]
    """Takes the document's text and returns it with the part made anew."""


def _marked(file: str, name: str, make: Callable[[], str]) -> Part:
    return Part(file, lambda page: between(page, name, make()))


PARTS: Final = (
    _marked("README.md", "engines", engine_tables.names),
    *(Part(file, workflow_keys.handed_on) for file in workflow_keys.FILES),
    _marked("docs/actions.md", "keys", workflow_keys.secrets),
    _marked("docs/actions.md", "inputs", tables.inputs),
    _marked("docs/actions.md", "outputs", tables.outputs),
    _marked("docs/command-line.md", "words", command_words.tables),
    _marked("docs/commands.md", "verbs", verb_table.table),
    _marked("docs/configuration.md", "keys", tables.keys),
    _marked("docs/configuration.md", "faults", tables.faulty_configuration),
    Part("docs/config.schema.json", lambda _: tables.schema_text()),
    _marked("docs/engine-requests.md", "requests", tables.requests),
    _marked("docs/engines.md", "engines", engine_tables.tables),
    _marked("docs/engines.md", "variables", engine_tables.variables),
    _marked("docs/hosting.md", "permissions", tables.permissions),
    _marked("docs/log-format.md", "events", log_format.tables),
    Part("docs/mutants.md", with_list),
    _marked("docs/mcp.md", "tools", tables.tools),
    _marked("docs/workflows.md", "patterns", tables.patterns),
    _marked("docs/workflows.md", "faults", tables.faulty_pattern),
    Part("bot/dashboard/openapi.json", tables.with_words),
)


def between(page: str, name: str, text: str) -> str:
    """Return the page with `text`, which ends its last line, between two marks.

    Raises `ValueError`: a mark is missing.
    """
    begin, end = f"<!-- {name}: made by make docs -->\n", f"<!-- end of {name} -->\n"
    before, found, rest = page.partition(begin)
    _, closed, after = rest.partition(end)
    if not (found and closed):
        raise ValueError(f"the page has no {begin.strip()} … {end.strip()}")
    return f"{before}{begin}\n{text}\n{end}{after}"


def pages() -> Iterator[tuple[Path, str]]:
    """Yield each document with a generated part, and the text that it should have.

    Raises `ValueError`: a document lacks a mark.
    """
    for file in dict.fromkeys(part.file for part in PARTS):
        text = (ROOT / file).read_text("utf-8")
        for part in PARTS:
            text = part.remake(text) if part.file == file else text
        yield ROOT / file, text


def main() -> int:
    """Write what is out of date and say so; safe to call twice."""
    for path, text in pages():
        if path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
            print(f"docs: wrote {path.relative_to(ROOT)}")  # noqa: T201  for people
    return 0


if __name__ == "__main__":
    sys.exit(main())
