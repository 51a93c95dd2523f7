"""GitHub's own OpenAPI description as a judge of what goes over the wire.

`Contract.faults(exchange)` returns what is wrong with a request and its answer, as
sentences; nothing when both are what GitHub describes.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.world.traffic import Exchange

SPEC = Path(__file__).with_name("github-openapi.json")
UNDOCUMENTED = {301, 304, 400, 401, 403, 404, 410, 415, 422, 429}
"""Real on GitHub whether an operation describes them or not; so is every 5xx."""
DEEP = {"ref", "path", "branch", "basehead", "name"}
"""Parameters of a path that may hold slashes."""
BY_ID = re.compile(r"^/repositories/\d+")
"""Where redirects lead: the same operations, with the repository's id."""
FORMATS = {"email": lambda text: "@" in text}
"""Bots have addresses such as 1+name[bot]@host, which the RFCs do not know."""
DEFINITIONS = "urn:github"

QUERIES = {"created"}
"""Parameters that take GitHub's date queries although they are called times."""

Json = Any
Schema = dict[str, Any]


@dataclass(frozen=True)
class Operation:
    path: str
    pattern: re.Pattern[str]
    method: str
    spec: Schema


def modern(node: Json) -> Json:
    """Turn an OpenAPI 3.0 schema into JSON Schema 2020-12."""
    if isinstance(node, list):
        return [modern(each) for each in node]
    if not isinstance(node, dict):
        return node
    new = {key: modern(value) for key, value in node.items() if key != "nullable"}
    ref = new.get("$ref")
    if isinstance(ref, str):
        new["$ref"] = ref.replace("#/components/schemas/", f"{DEFINITIONS}#/$defs/")
    if node.get("nullable") is True:
        return {"anyOf": [new, {"type": "null"}]}
    return new


def closed(node: Json) -> Json:
    """Forbid properties that a request's schema does not name."""
    if isinstance(node, list):
        return [closed(each) for each in node]
    if not isinstance(node, dict):
        return node
    new = {key: closed(value) for key, value in node.items()}
    if isinstance(new.get("properties"), dict) and "type" in new:
        new.setdefault("additionalProperties", False)
    return new


def partial(node: Json) -> Json:
    """Turn a schema into one that lets an answer leave out what it requires."""
    return _lenient(modern(node))


def _lenient(node: Json) -> Json:
    if isinstance(node, list):
        return [_lenient(each) for each in node]
    if not isinstance(node, dict):
        return node
    return {
        "anyOf" if key == "oneOf" else key: _lenient(value)
        for key, value in node.items()
        if not (key == "required" and isinstance(value, list))
    }


class Contract:
    def __init__(self, spec: Schema) -> None:
        self._components = spec["components"]
        schemas = {"$defs": partial(self._components["schemas"])}
        self._registry = jsonschema_rs.Registry([(DEFINITIONS, schemas)])
        self._validators: dict[int, Any] = {}
        self._operations = sorted(
            (
                Operation(path, pattern(path), method.upper(), operation)
                for path, item in spec["paths"].items()
                for method, operation in item.items()
            ),
            key=lambda one: -len(re.sub(r"\(.*?\)", "", one.pattern.pattern)),
        )

    def described(self) -> list[tuple[str, str]]:
        return [(one.method, one.path) for one in self._operations]

    def endpoint(self, method: str, path: str) -> str | None:
        """Return GitHub's path of a call's operation; None: it has no such."""
        found = self._found(method, path)
        return found[0].path if found else None

    def _found(self, method: str, path: str) -> tuple[Operation, re.Match[str]] | None:
        asked = BY_ID.sub("/repos/by/id", path)
        for operation in self._operations:
            match = operation.pattern.fullmatch(asked)
            if match and operation.method == method:
                return operation, match
        return None

    def faults(self, exchange: Exchange) -> list[str]:
        described = self._found(exchange.method, exchange.path)
        if described is not None:
            operation, match = described
            where = f"{exchange.method} {exchange.path} ({exchange.status}): "
            found = [*self._answer(operation, exchange)]
            if exchange.status < 400:
                found += self._request(operation, exchange, match)
            return [where + fault for fault in found]
        if exchange.status == 404:
            return []
        return [f"{exchange.method} {exchange.path} is not described by GitHub"]

    def _request(
        self, operation: Operation, exchange: Exchange, match: re.Match[str]
    ) -> Iterator[str]:
        known = {}
        for parameter in map(self._resolved, operation.spec.get("parameters", ())):
            place = exchange.query if parameter["in"] == "query" else match.groupdict()
            known[parameter["name"]] = parameter
            if parameter["name"] in place and parameter["name"] not in QUERIES:
                value = typed(place[parameter["name"]], parameter["schema"])
                name = parameter["name"]
                yield from self._judge(parameter["schema"], value, f"parameter {name}")
        for name in exchange.query.keys() - known.keys():
            yield f"query parameter {name} is unknown"
        body = operation.spec.get("requestBody")
        if body is None:
            if exchange.request not in (None, {}):
                yield "it takes no body"
            return
        if exchange.request is None and not body.get("required"):
            return
        schema = body["content"]["application/json"]["schema"]
        yield from self._judge(schema, exchange.request, "request", close=True)

    def _answer(self, operation: Operation, exchange: Exchange) -> Iterator[str]:
        described = operation.spec["responses"].get(str(exchange.status))
        if described is None:
            if exchange.status in UNDOCUMENTED or exchange.status >= 500:
                return
            yield f"status {exchange.status} is not described"
            return
        content = self._resolved(described).get("content", {})
        if "application/json" in content:
            schema = content["application/json"].get("schema", {})
            yield from self._judge(schema, exchange.response, "response")
        elif exchange.response is not None and exchange.status < 400:
            yield "the answer should have no body"

    def _resolved(self, node: Schema) -> Schema:
        if "$ref" not in node:
            return node
        _, _, kind, name = node["$ref"].split("/")
        found: Schema = self._components[kind][name]
        return found

    def _judge(
        self, schema: Schema, value: Json, what: str, *, close: bool = False
    ) -> Iterator[str]:
        validator = self._validators.get(id(schema))
        if validator is None:
            new = modern(schema) if close else partial(schema)
            validator = self._validators[id(schema)] = jsonschema_rs.validator_for(
                {"$schema": "https://json-schema.org/draft/2020-12/schema"}
                | (closed(new) if close else new),
                registry=self._registry,
                validate_formats=True,
                formats=FORMATS,
            )
        for error in validator.iter_errors(value):
            where = "/".join(map(str, error.instance_path))
            yield f"{what} {where}: {error.message[:300]}"


def pattern(path: str) -> re.Pattern[str]:
    parts = re.split(r"\{([^}]*)\}", path)
    made = re.escape(parts[0])
    for name, literal in zip(parts[1::2], parts[2::2], strict=True):
        made += f"(?P<{name}>{'.+' if name in DEEP else '[^/]+'})" + re.escape(literal)
    return re.compile(made)


def typed(text: str, schema: Mapping[str, Any]) -> Json:
    """Read a parameter as what its schema asks for."""
    kind = schema.get("type")
    if kind == "integer" and re.fullmatch(r"-?\d+", text):
        return int(text)
    if kind == "boolean" and text in {"true", "false"}:
        return text == "true"
    return text


@cache
def described() -> Schema:
    """Return GitHub's description, as far as the forge serves it."""
    found: Schema = json.loads(SPEC.read_text())
    return found


@cache
def github() -> Contract:
    """Return the same as a judge: a forge answers with what brat reads."""
    return Contract(described())
