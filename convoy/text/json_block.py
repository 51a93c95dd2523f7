"""The JSON object that an agent's answer ends with."""

import json
import re
from typing import Any, Final

from grite.errors import BratError

MOST_CHARS: Final = 200_000
_BLOCK: Final = re.compile(r"^```(?:json)?\s*\n(.*?)^```", re.MULTILINE | re.DOTALL)


class Unfit(BratError):
    """An answer cannot be used; its text says why, and is told to the next attempt."""


def json_in(text: str, what: str) -> Any:  # noqa: ANN401  any JSON
    """Return what the last block of JSON says, or all from the first brace on.

    Args:
        text: the answer.
        what: what faults call it, such as `plan`.

    Raises:
        Unfit: there is none, in one sentence.
    """
    if len(text) > MOST_CHARS:
        raise Unfit(f"The {what} is longer than {MOST_CHARS} characters.")
    blocks = _BLOCK.findall(text)
    whole = blocks[-1] if blocks else text[text.find("{") : text.rfind("}") + 1]
    if not whole.strip():
        raise Unfit("The answer holds no JSON object.")
    try:
        return json.loads(whole)
    except (ValueError, RecursionError) as error:
        raise Unfit(f"The {what} is no JSON: {error}.") from error
