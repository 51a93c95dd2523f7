"""What one landed task costs, as `make bench ARGS=task-cost` counts it: at most this.

Ticks, looks and requests are not held: how many there are depends on the clock.
"""

from pathlib import Path

import pytest

from benchmarks.task_cost import counted

pytestmark = pytest.mark.layer("landing")

GIT_CALLS = {
    "add": 1,
    "bundle": 1,
    "cat-file": 1,
    "checkout": 1,
    "commit": 1,
    "config": 2,
    "diff-index": 1,
    "diff-tree": 3,
    "for-each-ref": 1,
    "init": 2,
    "ls-files": 3,
    "ls-tree": 1,
    "pack-objects": 1,
    "read-tree": 1,
    "receive-pack": 9,
    "status": 2,
    "unpack-objects": 1,
    "version": 1,
}
PUSHES = 8
PUSHED_BYTES = 21_000
LOG_COMMITS = 7


def test_one_task_costs_no_more_git_calls_pushes_and_commits_than_before(
    tmp_path: Path,
) -> None:
    cost = counted(tmp_path)

    calls = cost.steady_calls
    more = {name: n for name, n in calls.items() if n > GIT_CALLS.get(name, 0)}
    assert more == {}, "git calls by subcommand; docs/benchmarks.md says what they are"
    assert cost.pushes <= PUSHES
    assert cost.pushed_bytes <= PUSHED_BYTES
    assert cost.log_commits <= LOG_COMMITS
