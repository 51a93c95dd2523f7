"""Say what GitHub's other products lack of what a forge here serves.

    npm install --no-save @octokit/openapi@23.0.2
    python -m tests.contract.compare_releases node_modules/@octokit/openapi/generated

It writes github-releases.json beside this file: for ghe.com and each release of
Enterprise Server that the package has, the operations and the keys of bodies that
github.com knows and it does not.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

from tests.contract.prune_openapi import served
from tests.world.github_forge.endpoint_permissions import shape

TARGET: Final = Path(__file__).with_name("github-releases.json")
NAMES: Final = {"ghec": "ghe.com"}
Json = Any


def keys(components: Json, schema: Json) -> set[str]:
    if "$ref" in schema:
        _, _, kind, name = schema["$ref"].split("/")
        return keys(components, components[kind][name])
    parts = [one for how in ("allOf", "anyOf", "oneOf") for one in schema.get(how, ())]
    return set(schema.get("properties", ())).union(
        *(keys(components, one) for one in parts)
    )


def bodies(spec: Json) -> dict[str, set[str]]:
    found, wanted = {}, served()
    for path, item in spec["paths"].items():
        for method, operation in item.items():
            if (method, shape(path)) in wanted:
                content = operation.get("requestBody", {}).get("content", {})
                schema = content.get("application/json", {}).get("schema", {})
                found[f"{method.upper()} {shape(path)}"] = keys(
                    spec["components"], schema
                )
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    full = bodies(json.loads((folder / "api.github.com.json").read_text()))
    lacking = {}
    for file in sorted([*folder.glob("ghes-*.json"), folder / "ghec.json"]):
        if ".deref" not in file.name:
            less = bodies(json.loads(file.read_text()))
            lacking[NAMES.get(file.stem, file.stem)] = {
                "operations": sorted(full.keys() - less.keys()),
                "keys": {
                    operation: sorted(full[operation] - known)
                    for operation, known in sorted(less.items())
                    if full[operation] - known
                },
            }
    TARGET.write_text(json.dumps(lacking, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
