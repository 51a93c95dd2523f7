"""The kinds of agent: one row each, that says how it is started and understood.

A row is data and two functions without side effects; starting, watching and ending are
the witness's. A new engine is a module with a row, and a line in `ENGINES`.
"""

from runner.engines import shell
from runner.engines.row import Row

ENGINES: dict[str, Row] = {row.name: row for row in (shell.ROW,)}
"""By the `type` in the configuration."""
