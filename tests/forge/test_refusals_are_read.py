"""What the forge says of a refused push, brat reads as the rule that it is."""

import pytest

from bot.forge.refusals import of_push
from grite.push_answer import push_answer
from tests.forge.refused_pushes import PLAYS
from tests.world.forge import Town

pytestmark = pytest.mark.layer("landing")

RULES = {
    "large-file": "file-too-large",
    "large-push": "file-too-large",
    "protection-beside-a-tag": "checks-awaited",
    "protection-force-push": "protected-branch",
    "protection-pull-request": "protected-branch",
    "ruleset-force-push": "rule-violation",
    "ruleset-pull-request": "rule-violation",
    "ruleset-signatures": "signature-wanted",
    "ruleset-status-checks": "rule-violation",
    "ruleset-tag-update": "rule-violation",
    "secrets": "secret-found",
    "workflow-right": "workflows-right",
}
"""By the name of the transcript."""


@pytest.mark.parametrize("name", sorted(RULES))
async def test_a_refused_push_is_read_as_its_rule(here: Town, name: str) -> None:
    done = await PLAYS[name](here, await here.clone())
    said = done.stdout.decode()
    lines = [line.split("\t") for line in said.splitlines() if line.count("\t") == 2]
    asked = [names.rpartition(":")[2] for _, names, _ in lines]

    answer = push_answer(asked, said, done.stderr)

    (refused,) = answer.refused
    others = {one.verdict for one in answer.refs if one != refused}
    assert of_push(refused.said, refused.ref).rule == RULES[name]
    assert others <= {"taken"}
