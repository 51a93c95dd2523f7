"""The CLI on a forge that refuses: the forge's sentence is said, and what helps."""

from pathlib import Path

import pytest

from tests.world.extended import extended, faults
from tests.world.words import engine, project

pytestmark = pytest.mark.layer("landing")

START = "brat mayor start --task 'Spell words'"
SAID = "Issues are disabled for this repo"


def test_what_the_forge_says_is_said_and_what_is_lifted_is_done(
    tmp_path: Path,
) -> None:
    terminal = extended(project(tmp_path, engine("echo hi > hi.txt")))
    terminal.done("brat init")
    faults(terminal).refuse("POST", "/repos/[^/]+/[^/]+/issues", 410, SAID)

    refused = terminal.type(START)
    assert refused.status == 1
    assert SAID in refused.err

    faults(terminal).lift()
    terminal.done(START)
    assert len(faults(terminal).refused()) == 1
