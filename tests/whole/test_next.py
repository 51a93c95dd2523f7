"""`next:` never proposes what another terminal does already."""

from pathlib import Path

import pytest

from tests.world.staying import staying, until
from tests.world.terminal import left_running
from tests.world.words import NO_BOX, engine, project

pytestmark = pytest.mark.timeout(300)
AGENT = """
touch {folder}/began
until test -e {folder}/go; do read -t 0.2 < /dev/zero || true; done
my-agent < $BRAT_PROMPT
"""


def test_what_another_terminal_does_is_not_proposed(tmp_path: Path) -> None:
    terminal = project(tmp_path, engine(AGENT.format(folder=tmp_path), NO_BOX))
    terminal.done("brat init")
    started = terminal.type("brat mayor start --task 'Spell words'")
    assert started.after("next: ") == ["brat witness run"]

    with staying(terminal, "up", "--no-dashboard") as up:
        up.says("watching")
        until((tmp_path / "began").exists)
        beside = terminal.type("brat deacon run")
        up.process.terminate()
        up.ended()
    alone = terminal.type("brat deacon run")
    (tmp_path / "go").touch()
    terminal.done("brat witness run")
    merging = terminal.type("brat refinery run")
    until(lambda: left_running(tmp_path) == [])

    assert (beside.status, beside.after("next: ")) == (0, [])
    assert (alone.status, alone.after("next: ")) == (0, ["brat witness run"])
    assert merging.status == 0
