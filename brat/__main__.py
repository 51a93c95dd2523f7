"""The command `brat`. It exits with 2 on bad usage and with 1 on any other failure."""

import errno
import io
import os
import sys
from contextlib import suppress

_OF_THE_MACHINE = (
    *(errno.ENOSPC, errno.EDQUOT, errno.EIO),
    *(errno.EROFS, errno.EACCES, errno.EPERM),
)
"""What makes files unusable and is not for us to mend."""
_OF_A_REPOSITORY = (
    *("GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_PREFIX"),
    *("GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_OBJECT_DIRECTORIES", "GIT_NAMESPACE"),
    *("GIT_SHALLOW_FILE", "GIT_GRAFT_FILE", "GIT_REPLACE_REF_BASE"),
)
"""What git tells its hooks of the repository it works in: we look where we are run.

https://git-scm.com/docs/githooks (`git rev-parse --local-env-vars`)
"""


def _open_streams() -> None:
    """Let there be streams that take every text, whoever started us, and how."""
    for number, name in ((1, "stdout"), (2, "stderr")):
        if getattr(sys, name) is None:  # else the next file takes its number
            os.open(os.devnull, os.O_WRONLY)
            setattr(sys, name, open(number, "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # it may know ASCII alone
            stream.reconfigure(errors="backslashreplace")


def _words(typed: list[str]) -> list[str]:
    match typed:
        case [] | ["help"]:
            return ["--help"]
        case ["version"]:
            return ["--version"]
        case ["--repo", where, first, *rest]:
            return [first, *rest, "--repo", where]
        case ["help", *about] | [*about, "-h"] if all(map(str.isalpha, about)):
            return [*about, "--help"]
    return typed


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with 1."""
    for name in _OF_A_REPOSITORY:
        os.environ.pop(name, None)  # noqa: TID251  every git that we start would heed it
    _open_streams()
    if sys.argv[1:] in (["--version"], ["version"]):
        from bot import VERSION

        with suppress(OSError):  # what follows takes long, and tells of it
            print(f"brat {VERSION}", flush=True)  # noqa: T201
            return
    import click

    from brat.commands.command_line import command_line
    from grite.errors import BratError

    try:
        words = _words(sys.argv[1:])
        typed = words
        if "_BRAT_COMPLETE" in os.environ:  # noqa: TID251  a shell completes a line
            typed = os.environ.get("COMP_WORDS", "").split()[1:]  # noqa: TID251
        line = command_line("".join(typed[:1]))
        sys.exit(line.main(words, prog_name="brat", standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except BratError as error:
        _say(f"brat: {error}")
        sys.exit(1)
    except OSError as error:
        if (error.errno, error.filename) == (errno.ENOENT, None):  # as of `getcwd`
            _say("brat: the current folder no longer exists: change to another one")
            sys.exit(1)
        if (error.errno, error.filename) == (errno.ENOENT, "git"):
            _say("brat: git is not on the PATH: install it")
            sys.exit(1)
        if error.errno not in _OF_THE_MACHINE:
            raise
        _say(f"brat: cannot use {error.filename or 'the output'}: {error.strerror}")
        # What is left of it would be written at the end, and fail again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (click.Abort, KeyboardInterrupt):
        _say("stopped")
        sys.exit(130)


def _say(line: str) -> None:
    from brat.terminal.console import say

    say(line)


if __name__ == "__main__":
    main()
