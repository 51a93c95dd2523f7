"""Cut GitHub's OpenAPI descriptions down to the operations that the forge serves.

    npm install --no-save @octokit/openapi@23.0.2
    python -m tests.contract.prune_openapi node_modules/@octokit/openapi/generated

It writes two files beside this one, and names the routes of the forge that GitHub does
not describe. github-openapi.json is what github.com has, without texts and examples;
github-releases.json names the operations and the keys of bodies that ghe.com and each
release of Enterprise Server lack of it.
"""

import json
import sys
from pathlib import Path
from typing import Any

from brat.forge.http_server import ROUTES
from tests.world.github_forge.endpoint_permissions import shape
from tests.world.github_forge.extension import ROUTES as MORE_ROUTES

TARGET = Path(__file__).with_name("github-openapi.json")
RELEASES = TARGET.with_name("github-releases.json")
NAMES = {"ghec": "ghe.com"}
PROSE = {"description", "summary", "example", "examples", "externalDocs", "tags"}
EITHER = ["Simple User", "Enterprise"]
"""An account is one of them; one list of GitHub's says that it is both."""

Json = Any


def served() -> set[tuple[str, str]]:
    routes = (*ROUTES, *MORE_ROUTES)
    return {(route.method.lower(), shape(route.path)) for route in routes}


def plain(node: Json, *, names: bool = False) -> Json:
    """Drop what is only for people; `names`: the keys are names of properties."""
    if isinstance(node, list):
        return [plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    if [each.get("title") for each in node.get("allOf", ())] == EITHER:
        node = {**node, "anyOf": node["allOf"]}
        del node["allOf"]
    return {
        key: plain(value, names=key in {"properties", "headers"} and not names)
        for key, value in node.items()
        if names or not (key in PROSE or key.startswith("x-"))
    }


def named(node: Json) -> set[str]:
    """Return all that a part refers to."""
    if isinstance(node, list):
        return set().union(*map(named, node))
    if not isinstance(node, dict):
        return set()
    own = {node["$ref"]} if isinstance(node.get("$ref"), str) else set()
    return own.union(*map(named, node.values()))


def pruned(full: dict[str, Any]) -> dict[str, Any]:
    wanted, paths = served(), {}
    for path, item in full["paths"].items():
        kept = {
            method: {
                key: plain(operation[key])
                for key in ("operationId", "parameters", "requestBody", "responses")
                if key in operation
            }
            for method, operation in item.items()
            if (method, shape(path)) in wanted
        }
        if kept:
            paths[path] = kept
            wanted -= {(method, shape(path)) for method in kept}
    for method, path in sorted(wanted):
        sys.stdout.write(f"not described by GitHub: {method.upper()} {path}" + "\n")
    components: dict[str, dict[str, Any]] = {}
    missing = named(paths)
    while missing:
        ref = missing.pop()
        _, _, kind, name = ref.split("/")
        if name not in components.setdefault(kind, {}):
            components[kind][name] = plain(full["components"][kind][name])
            missing |= named(components[kind][name])
    info = {"title": full["info"]["title"], "version": full["info"]["version"]}
    return {
        "openapi": full["openapi"],
        "info": info,
        "paths": dict(sorted(paths.items())),
        "components": {
            kind: dict(sorted(components[kind].items())) for kind in sorted(components)
        },
    }


def keys(components: Json, schema: Json) -> set[str]:
    if "$ref" in schema:
        _, _, kind, name = schema["$ref"].split("/")
        return keys(components, components[kind][name])
    parts = [one for how in ("allOf", "anyOf", "oneOf") for one in schema.get(how, ())]
    return set(schema.get("properties", ())).union(
        *(keys(components, one) for one in parts)
    )


def bodies(spec: Json) -> dict[str, set[str]]:
    """Return the keys of the body of each operation that the forge serves."""
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


def lacking(full: dict[str, set[str]], less: dict[str, set[str]]) -> Json:
    return {
        "operations": sorted(full.keys() - less.keys()),
        "keys": {
            operation: sorted(full[operation] - known)
            for operation, known in sorted(less.items())
            if full[operation] - known
        },
    }


def main() -> int:
    folder = Path(sys.argv[1])
    full = json.loads((folder / "api.github.com.json").read_text())
    TARGET.write_text(json.dumps(pruned(full), separators=(",", ":")) + "\n")
    others = sorted([*folder.glob("ghes-*.json"), folder / "ghec.json"])
    told = {
        NAMES.get(file.stem, file.stem): lacking(
            bodies(full), bodies(json.loads(file.read_text()))
        )
        for file in others
        if ".deref" not in file.name
    }
    RELEASES.write_text(json.dumps(told, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
