"""How programs of ours start that stand between the witness and an engine: fast.

Without the site module Python starts in half the time, and a module, unlike a file that
is run, is not compiled again each time.
"""

import sys
from pathlib import Path
from typing import Final

import runner

_ROOT: Final = str(Path(runner.__path__[0]).parent)
_CODE: Final = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from runner.{name} import main; sys.exit(main(sys.argv[1:]))"
)


def launched(name: str) -> tuple[str, ...]:
    """Return what runs `main` of a module of the runner that needs no library."""
    code = _CODE.format(name=name)
    return (sys.executable, "-I", "-S", "-c", code, _ROOT)
