"""GitHub's own schemas of webhook payloads as a judge of what is delivered.

They come with the npm package `@octokit/openapi-webhooks`: JSON Schema 2020-12, one
for each event and action. https://github.com/octokit/openapi-webhooks
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.contract.openapi import DEFINITIONS, FORMATS, partial
from tests.world.npm import installed

NPM = Path(__file__).parents[1] / "npm"
SPECS = "@octokit/openapi-webhooks/generated"


class Schemas:
    def __init__(self, spec: dict[str, Any]) -> None:
        self._schemas = {
            item["post"]["operationId"]: item["post"]["requestBody"]["content"][
                "application/json"
            ]["schema"]
            for item in spec["webhooks"].values()
        }
        shared = {"$defs": partial(spec["components"]["schemas"])}
        self._registry = jsonschema_rs.Registry([(DEFINITIONS, shared)])
        self._judges: dict[str, Any] = {}

    def faults(self, event: str, payload: dict[str, Any]) -> list[str]:
        action = payload.get("action")
        name = f"{event}/{action}" if action else event
        if name.replace("_", "-") not in self._schemas:
            return [f"{name} is no event of GitHub's"]
        judge = self._judge(name.replace("_", "-"))
        return [
            f"{name} {'/'.join(map(str, error.instance_path))}: {error.message[-300:]}"
            for error in judge.iter_errors(payload)
        ]

    def _judge(self, name: str) -> Any:  # noqa: ANN401  one class for each draft
        if name not in self._judges:
            self._judges[name] = jsonschema_rs.validator_for(
                {"$schema": "https://json-schema.org/draft/2020-12/schema"}
                | partial(self._schemas[name]),
                registry=self._registry,
                validate_formats=True,
                formats=FORMATS,
            )
        return self._judges[name]


def description(host: str = "api.github.com") -> dict[str, Any]:
    """Return what GitHub says of its webhooks; installs it where it is missing.

    `host` is github.com, or a release such as `ghes-3.19`.
    """
    found = (installed(NPM) / SPECS / f"{host}.json").read_bytes()
    read: dict[str, Any] = json.loads(found)
    return read


@cache
def webhooks(host: str = "api.github.com") -> Schemas:
    return Schemas(description(host))


def hosts() -> list[str]:
    """Return every kind of GitHub there are schemas of; installs them, too."""
    return sorted(path.stem for path in (installed(NPM) / SPECS).glob("*.json"))
