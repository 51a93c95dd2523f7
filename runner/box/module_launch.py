"""The command that starts one of our own modules quickly.

It is for the processes that stand between the witness and an engine. Without the site
module Python starts in half the time. And an imported module is compiled only once,
while a file that is run is compiled each time.
"""

import sys

_ROOT = __file__.rsplit("/", 3)[0]
_CODE = (
    "import sys; sys.path.append(sys.argv.pop(1)); "
    "from {name} import main; sys.exit(main(sys.argv[1:]))"
)


def launched(module: str) -> tuple[str, ...]:
    """Return the command that runs `main` of one of our modules without libraries."""
    code = _CODE.format(name=module)
    return (sys.executable, "-I", "-S", "-c", code, _ROOT)
