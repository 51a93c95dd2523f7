"""rebase, squash and merge: whichever it is, what lands was judged and shows merged."""

from pathlib import Path

import pytest
from msgspec import json

from tests.world.layers import sampled
from tests.world.second_reader import rows
from tests.world.seen import look
from tests.world.terminal import left_running
from tests.world.words import engine, project

LIST = (
    "Add modules\n\n- [ ] Spell words\n- [ ] Spell more (after 1)\n- [ ] Sort words\n"
)
HALF = "half-$BRAT_TASK.txt"
AGENT = (
    f"date > {HALF} && git add {HALF} && git commit -qm Half && my-agent < $BRAT_PROMPT"
)
CONFIG = """
[refinery]
strategy = "{}"

[ci]
command = "test -f words/count.py"
"""
COMMITS = {"rebase": 6, "squash": 3, "merge": 9}
"""Of three tasks with two commits each."""


@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    "strategy", sampled([(each,) for each in sorted(COMMITS)], {("squash",)})
)
def test_all_that_lands_was_judged_and_every_pull_request_is_merged(
    tmp_path: Path, strategy: str
) -> None:
    terminal = project(tmp_path, engine(AGENT, CONFIG.format(strategy)))

    said = terminal.type(f'brat mayor start --headless --task "{LIST}"')

    assert said.status == 0, said.err
    (convoy,) = json.decode(terminal.done("brat status --json"))["convoys"]
    landed = [task["landed_commit"] for task in convoy["tasks"]]
    seen = look(terminal.cwd / ".git/brat")
    assert [pull["merged"] for pull in seen.pulls] == [True] * 4
    assert set(landed) <= seen.ancestors()
    for commit in {*landed, convoy["landed_commit"]}:
        assert [one["conclusion"] for one in seen.checks[commit]] == ["success"]
    (begun,) = seen.git("rev-list", "--max-parents=0", "main").split()
    assert len(seen.ancestors() - {begun}) == COMMITS[strategy]
    facts = [row.fact for row in rows(seen.path) if row.fact]
    tried = [fact for fact in facts if fact["type"] == "merge.attempted"]
    assert {fact["strategy"] for fact in tried if fact["task"]} == {strategy}
    assert seen.refs("refs/heads/brat/") == []
    assert seen.faults == []
    assert left_running(tmp_path) == []
