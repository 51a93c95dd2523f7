"""act on the host: the attack in a job of the real workflow file."""

from msgspec import json

from tests.attacks.surroundings import SECRET
from tests.world.act.extension import with_act
from tests.world.staying import typed, until
from tests.world.terminal import Terminal

UNDER_WAY = "queued", "running"


def run_by_act(terminal: Terminal) -> None:
    """Let act run the session of one task; return when the bot has its result."""
    with_act(terminal).done("brat init")
    terminal.done("brat mayor start --task 'Spell words'")
    words = ("up", "--no-dashboard")
    with typed(terminal, *words, AWS_SECRET_ACCESS_KEY=SECRET):
        until(lambda: has_ended(terminal))


def has_ended(terminal: Terminal) -> bool:
    (convoy,) = json.decode(terminal.done("brat status --json"))["convoys"]
    tasks = convoy["tasks"]
    return bool(tasks) and tasks[0]["state"] not in UNDER_WAY
