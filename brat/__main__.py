"""The command `brat`. It exits with 2 on bad usage and with 1 on any other failure."""

import sys

VALUES = "__complete"
"""The word by which a shell asks for values while somebody types."""


def main() -> None:
    """Run the command line; an expected error prints one sentence and exits with 1."""
    if sys.argv[1:2] == [VALUES]:  # before anything slow is loaded
        from brat.status.completion_values import tell_values

        tell_values(sys.argv[2:])
        return
    from brat.commands.command_line import app
    from brat.terminal.console import fail, say
    from grite.errors import BratError

    try:
        app()
    except BratError as error:
        fail(str(error))
        sys.exit(1)
    except KeyboardInterrupt:
        say("stopped")
        sys.exit(130)


if __name__ == "__main__":
    main()
