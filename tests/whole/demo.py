"""The demo as people run it, and all that can be seen of it afterwards."""

from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, json

from tests.world.extended import extended
from tests.world.github_forge.extension import EXCHANGES
from tests.world.second_reader import Row, rows
from tests.world.seen import Seen, contract_faults, exchanges, look
from tests.world.terminal import Said, Terminal, left_running

TASKS = range(1, 8)
CHAOS_SEED = 7


class Story(Struct, frozen=True, kw_only=True, dict=True):
    """What one run of `brat demo --json` left."""

    said: Said
    left_running: list[str]
    calls: list[tuple[str, str]]
    """Method and path of everything that was asked of the forge by REST."""
    contract_faults: list[str]
    seen: Seen

    @property
    def told(self) -> dict[str, Any]:
        found = json.decode(self.said.out)
        assert isinstance(found, dict)
        return found

    @property
    def tasks(self) -> list[dict[str, Any]]:
        return list(self.told["tasks"])

    @property
    def landed(self) -> list[str]:
        return [task["landed_commit"] for task in self.tasks]

    @cached_property
    def rows(self) -> list[Row]:
        return rows(self.seen.path)

    def facts(self, kind: str) -> list[dict[str, Any]]:
        found = (row.fact for row in self.rows)
        return [fact for fact in found if fact and fact["type"] == kind]


def play(folder: Path, *, chaos: int | None = None) -> Story:
    """Run the demo in `folder`; with `chaos` the bot is killed, this is the seed."""
    where = folder / "demo"
    more = f" --chaos --seed {chaos}" if chaos is not None else ""
    terminal = Terminal(folder, folder)
    terminal.programs.mkdir(parents=True)
    extended(terminal, "recorded")
    said = terminal.type(f"brat demo --json --dir {where}{more}")
    left = left_running(where)
    assert said.status == 0, said.err
    record = where / EXCHANGES
    return Story(
        said=said,
        left_running=left,
        calls=[(one.method, one.path) for one in exchanges(record)],
        contract_faults=list(contract_faults(record)),
        seen=look(where),
    )
