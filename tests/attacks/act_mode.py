"""act on the host: the attack in a job of the real workflow file."""

import time

from msgspec import json

from tests.attacks.surroundings import SECRET
from tests.world.act.extension import with_act
from tests.world.patience import patient
from tests.world.staying import typed
from tests.world.terminal import Terminal

DEADLINE_S = patient(90)
LOOK_S = 0.2
UNDER_WAY = "queued", "running"


def run_by_act(terminal: Terminal) -> None:
    """Let act run the session of one task; return when the bot has its result."""
    with_act(terminal).done("brat init")
    terminal.done("brat mayor start --task 'Spell words'")
    words = ("up", "--no-dashboard")
    with typed(terminal, *words, AWS_SECRET_ACCESS_KEY=SECRET):
        until = time.monotonic() + DEADLINE_S
        while time.monotonic() < until:
            (convoy,) = json.decode(terminal.done("brat status --json"))["convoys"]
            if convoy["tasks"] and convoy["tasks"][0]["state"] not in UNDER_WAY:
                return
            time.sleep(LOOK_S)
    raise AssertionError("it took too long")
