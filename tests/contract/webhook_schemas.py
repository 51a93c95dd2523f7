"""GitHub's own schemas of webhook payloads as a judge of what is delivered.

They come with the npm package `@octokit/openapi-webhooks`: JSON Schema 2020-12, one
for each event and action. https://github.com/octokit/openapi-webhooks
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema_rs

from tests.contract.openapi import DEFINITIONS, FORMATS, modern
from tests.world.npm import installed

NPM = Path(__file__).parents[1] / "npm"
SPEC = "@octokit/openapi-webhooks/generated/api.github.com.json"


class Schemas:
    """The schemas that payloads are held against."""

    def __init__(self, spec: dict[str, Any]) -> None:
        """Index the events of `spec`."""
        self._schemas = {
            item["post"]["operationId"]: item["post"]["requestBody"]["content"][
                "application/json"
            ]["schema"]
            for item in spec["webhooks"].values()
        }
        shared = {"$defs": modern(spec["components"]["schemas"])}
        self._registry = jsonschema_rs.Registry([(DEFINITIONS, shared)])

    def faults(self, event: str, payload: dict[str, Any]) -> list[str]:
        """Return what is wrong with a payload, each with its place."""
        action = payload.get("action")
        name = f"{event}/{action}" if action else event
        schema = self._schemas.get(name.replace("_", "-"))
        if schema is None:
            return [f"{name} is no event of GitHub's"]
        judge = jsonschema_rs.validator_for(
            {"$schema": "https://json-schema.org/draft/2020-12/schema"}
            | modern(schema),
            registry=self._registry,
            validate_formats=True,
            formats=FORMATS,
        )
        return [
            f"{name} {'/'.join(map(str, error.instance_path))}: {error.message[-300:]}"
            for error in judge.iter_errors(payload)
        ]


@cache
def webhooks() -> Schemas:
    """Return GitHub's schemas; installs them where they are missing."""
    return Schemas(json.loads((installed(NPM) / SPEC).read_bytes()))
