"""Write down what CLIs send: `python -m tests.engines.record [TYPE...]`, `make docs`.

Needed when the versions in tests/engines are raised; test_requests.py says so.
"""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeAlias

from convoy.model.records import EngineSpec
from runner.engines import ENGINES as ROWS
from runner.engines.row import Call
from tests.engines.cases import COLUMNS, ENGINES, Engine
from tests.engines.driving import session, vendor
from tests.engines.install import pinned_versions
from tests.runner.job import Forge, Left
from tests.world.patience import patient

LONG_S: Final = int(patient(120))
"""No fault is played here, so a busy machine may take its time."""
KEPT: Final = Path(__file__).with_name("requests.json")
Parts: TypeAlias = dict[str, dict[str, str]]
"""The names of the engines that sent each path, header and field of a dialect."""
_MODELS: Final = {
    "anthropic": "anthropic/claude-sonnet-4-5",
    "chat": "openai/gpt-4o",
    "gemini": "gemini/gemini-2.5-flash",
}
_ASKED: Final = (
    ("claude-code", "claude-sonnet-4-5"),
    ("claude-code", ""),
    ("codex", "gpt-5"),
    ("gemini", "gemini-2.5-flash"),
    *(("aider", model) for model in _MODELS.values()),
    ("opencode", "openai/gpt-5"),
    ("opencode", "compatible/m"),
    ("opencode", _MODELS["anthropic"]),
    *(("continue", model) for model in _MODELS.values()),
    ("copilot", "openai/gpt-4o"),
    ("copilot", _MODELS["anthropic"]),
)
ENGINES_ASKED: Final = tuple(
    replace(ENGINES[name], model=model) for name, model in _ASKED
)
"""Every way in which the seven CLIs reach a model through the key proxy."""


FREE: Final = frozenset(
    {
        *("input_schema", "parameters", "parametersJsonSchema", "responseJsonSchema"),
        *("schema", "input", "args", "response", "client_metadata", "format"),
    }
)
"""Fields that hold what a project or a tool wrote, where they are objects."""
OF_TRANSPORT: Final = frozenset({"host", "content-length", "accept-encoding"})


def fields(body: object, path: str = "") -> Iterator[str]:
    """Yield each field of a body, and each `type` with its value."""
    if isinstance(body, Mapping):
        for name, value in body.items():
            where = f"{path}.{name}" if path else name
            if name == "type":
                yield f"{where}={value}"
            elif name in FREE and isinstance(value, Mapping):
                yield where
            else:
                yield from fields(value, where)
    elif isinstance(body, list):
        yield from (found for each in body for found in fields(each, f"{path}[]"))
        if not body or not isinstance(body[0], dict | list):
            yield f"{path}[]"
    else:
        yield path


def held(requests: Sequence[Mapping[str, Any]]) -> dict[str, list[str]]:
    bodies = [json.loads(each["body"]) for each in requests if each["body"]]
    found = {
        "paths": {each["asked"] for each in requests},
        "headers": {name for each in requests for name in each["headers"]},
        "fields": {field for body in bodies for field in fields(body)},
    }
    found["headers"] -= OF_TRANSPORT
    return {name: sorted(each) for name, each in found.items()}


def dialect(engine: Engine) -> str:
    spec = EngineSpec(type=engine.type, model=engine.model)
    call = Call(ROWS[engine.type], spec, endpoint="http://127.0.0.1")
    return call.vendor.dialect


def kept() -> dict[str, Parts]:
    found: dict[str, Parts] = json.loads(KEPT.read_text("utf-8"))
    return found


def sent(
    forge: Forge, engine: Engine, **given: object
) -> tuple[Left, Mapping[str, list[str]]]:
    """Run a session; return what is left of it, and what its vendor was sent.

    `given` are changes to its engine.
    """
    column, times = COLUMNS["ok"], {"timeout_s": LONG_S, "silence_s": LONG_S}
    with vendor(forge.root, column) as served:
        left = session(forge, engine, served.url, **times, **given)
        return left, held(served.requests)


def _without(rows: Mapping[str, str], engine: str) -> dict[str, str]:
    left = {one: {*names.split()} - {engine} for one, names in rows.items()}
    return {one: " ".join(sorted(names)) for one, names in left.items() if names}


def _with(rows: Mapping[str, str], engine: str, new: Sequence[str]) -> dict[str, str]:
    known = {one: {*rows.get(one, "").split(), engine} for one in new}
    return {**rows, **{one: " ".join(sorted(names)) for one, names in known.items()}}


def main(types: Sequence[str]) -> int:
    """Write it down anew for engines of these types, or of all; 1 when one fails."""
    asked = [each for each in ENGINES_ASKED if not types or each.type in types]
    found = kept()
    for engine in asked:
        parts = found.setdefault(dialect(engine), {})
        for name in parts:
            parts[name] = _without(parts[name], engine.type)
    for engine in asked:
        with tempfile.TemporaryDirectory() as folder:
            left, new = sent(Forge(Path(folder)), engine)
            outcome = left.result["outcome"]
        print(engine.type, engine.model, outcome)  # noqa: T201  for people
        if outcome != "uncommitted":
            return 1
        parts = found[dialect(engine)]
        new = {**new, "versions": [pinned_versions()[engine.type]]}
        for name, each in new.items():
            parts[name] = _with(parts.get(name, {}), engine.type, each)
    KEPT.write_text(json.dumps(found, indent=1, sort_keys=True) + "\n", "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
