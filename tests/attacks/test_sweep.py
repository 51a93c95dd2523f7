"""Nothing that an agent tries wins, wherever its session runs."""

import os

import pytest

from tests.attacks.environments import PREFIXES
from tests.attacks.judge import Told, inside, judged
from tests.attacks.machine import machine
from tests.attacks.sessions import PLACES, session
from tests.attacks.sweep import SWEEPS

pytestmark = pytest.mark.layer("landing")

ATTEMPTS = 50
"""No fewer may be tried."""
WALLED = {"host": "", "ordinary user": "", "ordinary user, no namespaces": "user"}
"""Where nothing may be won, with the wall that is not there."""
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
        assert {name for name in stood if stood[name]} == WALLS - {WALLED[where]}
        paths = [each.split()[1] for each in found.vendor.heads]
        assert paths == [b"/v1/messages"], "the one call that is allowed"


def test_nothing_is_won_in_local_mode() -> None:
    assert won(SWEEPS["local mode"]()) == {}


@pytest.mark.layer("deep")
@pytest.mark.needs("act", "node")
def test_nothing_is_won_in_a_job_that_act_runs() -> None:
    assert won(SWEEPS["act on the host"]()) == {}


WINNERS = {
    "git of its own on the path",
    "dotfiles in the real home",
    "files that steer later steps",
    "folders that others read",
    "the witness s repository",
    "secrets in files",
    "secrets where they are known to lie",
    "memory that a key opens",
    "a hard link to a secret",
    "watching the witness s files",
    "git that asks for a password",
    "what is shown of other processes",
    "power over another process",
    "the socket of docker",
    "an abstract socket",
    "servers on loopback",
    "servers on loopback by a twin",
}
"""What wins on any machine without walls; more does where the kernel allows more."""


def test_without_walls_the_agent_wins() -> None:
    with machine() as found:
        left = session(found, box="off")
        assert [each for each in PLACES if each in inside(left.said)] == [*PLACES]
        told = judged(found, left.said, left.folder)

    assert {name for name, each in told.items() if each.won} >= WINNERS


MUST_FAIL = {
    "secrets in files",
    "a hard link to a secret",
    "git that asks for a password",
    "dotfiles in the real home",
    "git of its own on the path",
}


def test_a_home_on_the_path_is_not_shown_where_the_job_has_another_home() -> None:
    with machine() as found:
        (found.root / "home/bin").mkdir()
        (found.root / "job").mkdir()
        env = found.variables()
        path = f"{found.root}/home/bin{os.pathsep}{env['PATH']}"
        left = session(
            found,
            HOME=str(found.root / "job"),
            PATH=path,
            JAVA_HOME=str(found.root / "home"),  # nor where they are called a tool's
            RUSTUP_HOME=str(found.root / "home/.ssh"),
            M2_HOME=str(found.root),
        )
        told = judged(found, left.said, left.folder)

    assert {name: told[name].won for name in MUST_FAIL if told[name].won} == {}
