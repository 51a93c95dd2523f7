"""Patterns: templates in YAML that become a convoy's tasks. Pure, but for brat's own.

`source` reads YAML with its lines, `template` checks its form, `filling` puts inputs
in, `compiling` makes tasks; `registry` holds the templates that brat brings along.
"""

from grite.errors import BratError


class PatternError(BratError):
    """The pattern cannot be used; one line for each fault, `file: line: what`."""
