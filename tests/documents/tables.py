"""Tables and samples that documents show, made from what they tell of."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from bot.forge.app_auth import RIGHTS
from bot.requests.verb_table import BY_CONVOY_WORD, BY_TASK_WORD
from brat.commands.mcp_server import TOOLS, Tool
from convoy import config
from convoy.config.keys import SECONDS
from convoy.patterns import BUILT_IN, PatternError, built_in_pattern, template
from convoy.text import spoken_duration
from tests.engines.record import Parts, kept

_ACTION: Final = Path(__file__).parents[2] / "action.yml"


def table(head: Sequence[str], rows: Iterable[Iterable[str]]) -> str:
    first, *lines = (f"| {' | '.join(row)} |\n" for row in (head, *rows))
    return "".join((first, "|---" * len(head), "|\n", *lines))


# --- action.yml, and the App's permissions --------------------------------------------


def _rows(part: str) -> dict[str, dict[str, Any]]:
    return dict(YAML(typ="safe").load(_ACTION.read_text("utf-8"))[part])


def inputs() -> str:
    rows = (
        (f"`{name}`", each["description"], _of_input(each))
        for name, each in _rows("inputs").items()
    )
    return table(("input", "meaning", "default"), rows)


def _of_input(spec: dict[str, Any]) -> str:
    if spec.get("required"):
        return "required"
    return f"`{spec['default']}`" if spec.get("default") else ""


def outputs() -> str:
    rows = ((f"`{n}`", each["description"]) for n, each in _rows("outputs").items())
    return table(("output", "meaning"), rows)


def permissions() -> str:
    rows = ((f"`{name}: {level}`", what) for name, level, what in RIGHTS)
    return table(("permission", "for"), rows)


# --- the configuration ----------------------------------------------------------------


def schema_text() -> str:
    return json.dumps(config.schema(), indent=2, ensure_ascii=False) + "\n"


def keys() -> str:
    rows = (
        (
            *(f"`{key}`", _of_key(node), config.allowed_words(node)),
            " ".join(node["description"].split()),
        )
        for key, node in config.schema_keys(config.schema())
    )
    return table(("key", "default", "allowed", "meaning"), rows)


def _of_key(node: config.Node) -> str:
    value = node.get("default")
    if value is None:
        return "none"
    if node.get("x-allowed") == SECONDS:
        value = spoken_duration(value)
    return f"`{json.dumps(value)}`"


def faulty_configuration() -> str:
    text = 'engine.tests.type = "aidr"\nrefinery.stratgy = "squash"'
    return _fault(lambda: config.load(text, source=".brat/config.toml"))


def _fault(read: Callable[[], object]) -> str:
    try:
        read()
    except (config.ConfigError, PatternError) as error:
        return f"```\n{error}\n```\n"
    raise AssertionError("the sample has no fault")


# --- patterns -------------------------------------------------------------------------


def patterns() -> str:
    rows = (
        (
            *(f"`{name}`", built_in_pattern(name).description),
            ", ".join(_inputs(name)) or "none",
        )
        for name in BUILT_IN
    )
    return table(("pattern", "what it is for", "inputs"), rows)


def _inputs(name: str) -> Iterator[str]:
    for key, each in built_in_pattern(name).inputs.items():
        default = f" (`{each.default}`)" if each.default else ""
        needed = " (required)" if each.default is None else default
        yield f"`{key}`{needed}: {each.description}"


def faulty_pattern() -> str:
    text = "steps:\n  - id: a\n    titel: b\n    title: b\n    body: c\n"
    return _fault(lambda: template(text, "mine", ".brat/workflows/mine.yml"))


# --- the MCP server, and the dashboard's openapi.json ---------------------------------


def tools() -> str:
    rows = (
        (f"`{tool.name}`", _arguments(tool), "yes" if tool.writes else "", tool.help)
        for tool in TOOLS
    )
    return table(("tool", "takes", "changes", "what it does"), rows)


def _arguments(tool: Tool) -> str:
    needed = tool.described.input_schema["required"]
    return ", ".join(
        f"`{each}`" if each in needed else f"[`{each}`]"
        for each in tool.described.input_schema["properties"]
    )


def with_words(description: str) -> str:
    told: dict[str, Any] = json.loads(description)
    words = {"decideConvoy": BY_CONVOY_WORD, "decideTask": BY_TASK_WORD}
    for path in told["paths"].values():
        post = path.get("post", {})
        if rows := words.get(post.get("operationId")):
            [verb] = [p for p in post["parameters"] if p.get("name") == "verb"]
            verb["schema"]["enum"] = list(rows)
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


# --- what each engine sends, as `tests/engines/record.py` saw it ----------------------

_DIALECTS: Final = {
    "anthropic": "Anthropic's messages",
    "chat": "OpenAI's chat completions",
    "responses": "OpenAI's responses",
    "gemini": "Gemini's generateContent",
}


def requests() -> str:
    return "\n".join(
        f"### {words}\n\n{_sent(kept()[name])}" for name, words in _DIALECTS.items()
    )


def _sent(parts: Parts) -> str:
    told = parts["versions"].items()
    versions = {name: version for version, by in told for name in by.split()}
    names = sorted(versions)
    rows = [["version", *(versions[name] for name in names)]]
    for part in ("paths", "headers", "fields"):
        kind = "header " if part == "headers" else ""
        for each, by in parts[part].items():
            has = ("yes" if name in by.split() else "" for name in names)
            rows.append([f"{kind}`{each}`", *has])
    return table(["", *(f"`{name}`" for name in names)], rows)
