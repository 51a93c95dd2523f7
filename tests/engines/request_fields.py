"""What a request holds, in the words of `allow` in the configuration."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

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
