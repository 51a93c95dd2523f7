"""A Python function as an engine: it gets the prompt and returns its last words.

`python -I -m runner.engines.function_plugin MODULE:NAME` calls it in the checkout, with
the file that BRAT_PROMPT names; what it prints is shown as it comes. An exception means
failure.
"""

import os
import sys
from importlib import import_module
from pathlib import Path

from runner.engines.row import Abilities, Call, Row
from runner.engines.shell import read


def row(name: str, target: str) -> Row:
    """Return the row of the function that `target` (`module:name`) says."""

    def argv(call: Call) -> tuple[str, ...]:
        module = "runner.engines.function_plugin"
        return (sys.executable, "-I", "-m", module, target, *call.spec.args)

    return Row(
        name=name,
        argv=argv,
        read=read,
        prompt="argument",
        ends="exits",
        is_quiet=True,
        can=Abilities(),
    )


def main(target: str) -> int:
    """Call the function; it may print, and what it returns is printed last."""
    module, _, name = target.partition(":")
    function = getattr(import_module(module), name)
    prompt = Path(os.environ["BRAT_PROMPT"])  # noqa: TID251  the engine's own
    words = function(prompt.read_text(encoding="utf-8"))
    print(words or "")  # noqa: T201  its output is what it says
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
