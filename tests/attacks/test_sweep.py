"""Nothing that an agent tries wins, wherever its session runs."""

import pytest

from tests.attacks.environments import NOTHING, PREFIXES
from tests.attacks.judge import Told, inside, judged
from tests.attacks.machine import machine
from tests.attacks.sessions import PLACES, session
from tests.attacks.sweep import SWEEPS

pytestmark = pytest.mark.layer("landing")

ATTEMPTS = 50
"""No fewer may be tried."""
WALLED = "host", "ordinary user"
WALLS = {"files", "processes", "network", "user", "syscalls"}


def won(told: dict[str, Told]) -> dict[str, str]:
    assert len(told) > ATTEMPTS
    return {name: each.won for name, each in told.items() if each.won}


@pytest.mark.needs("unshare")
@pytest.mark.parametrize("where", WALLED)
def test_nothing_is_won_in_a_job(where: str) -> None:
    with machine() as found:
        left = session(found, PREFIXES[where])
        assert [each for each in PLACES if each in inside(left.said)] == [*PLACES]
        assert won(judged(found, left.said, left.folder)) == {}

        stood = left.result["walls"]
        assert {name for name in stood if stood[name]} == WALLS
        paths = [path for _, path, _ in found.vendor.calls]
        assert paths == ["/v1/messages"], "the one call that is allowed"


def test_nothing_is_won_in_local_mode() -> None:
    assert won(SWEEPS["local mode"]()) == {}


@pytest.mark.layer("deep")
@pytest.mark.needs("act", "node")
def test_nothing_is_won_in_a_job_that_act_runs() -> None:
    assert won(SWEEPS["act on the host"]()) == {}


@pytest.mark.needs("unshare")
def test_where_no_wall_can_be_built_no_session_starts() -> None:
    with machine() as found:
        left = session(found, NOTHING)

        assert inside(left.said) == {}
        assert left.result["conclusion"] == "failure"
        assert "This machine cannot sandbox agents" in left.result["why"]
        assert not any(left.result["walls"].values())
