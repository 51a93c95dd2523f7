"""A repository with rules, from the first command to what landed."""

from pathlib import Path

import pytest

from brat.repository.registration import BOT
from tests.world.extended import extended
from tests.world.forge_rules import (
    checks,
    pull_request,
    put_ruleset,
)
from tests.world.local_rules import ask, at_rest, registered
from tests.world.staying import staying
from tests.world.terminal import Terminal
from tests.world.words import engine, project

START = "brat mayor start --task 'Spell words' --headless"


def ruled(folder: Path) -> Terminal:
    """Return a project whose main takes pull requests only, but for the bot."""
    config = engine("my-agent < $BRAT_PROMPT", "[refinery]\nbypass = true\n")
    terminal = extended(project(folder, config), "rules")
    terminal.done("brat init")
    known = registered(terminal)
    with at_rest(terminal) as forge:
        bot = forge.user(BOT)
        assert bot is not None
        actor = {"actor_type": "Integration", "actor_id": forge.app_id(bot)}
        asked = pull_request()
        put_ruleset(forge, asked, repo=known.repository, bypass_actors=[actor])
    return terminal


@pytest.mark.layer("landing")
def test_a_headless_run_ends_where_only_a_review_is_missing(tmp_path: Path) -> None:
    terminal = extended(project(tmp_path, engine("my-agent < $BRAT_PROMPT")), "rules")
    terminal.done("brat init")
    known = registered(terminal)
    with at_rest(terminal) as forge:
        put_ruleset(forge, pull_request(1), checks("ci"), repo=known.repository)

    said = terminal.type(START)

    waits = "pull request #3 waits for 1 approving review, the check ci"
    assert said.status == 1, said.err
    assert f"spell-words-1: {waits}" in said.lines
    assert waits in terminal.type("brat status").out

    with staying(terminal, "up") as up:
        up.says("dashboard: ")
        ask(terminal, "POST", "pulls/3/reviews", {"event": "APPROVE"})
        up.says("landed; bring it into your checkout with: ")
