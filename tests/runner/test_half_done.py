"""An attempt that goes on from half-done work: its checkout, its prompt, its result."""

import msgspec
import pytest

from convoy.events.session_events import TaskStarted
from tests.runner.job import Forge, git


@pytest.fixture
def half_done(forge: Forge) -> TaskStarted:
    seed, root = forge.root / "seed", forge.base
    (seed / "half.txt").write_text("half\n")
    git("add", "-A", cwd=seed)
    git("commit", "-q", "-m", "Half", cwd=seed)
    half = git("rev-parse", "HEAD", cwd=seed)
    git("push", "-q", str(forge.bare), "HEAD:refs/grite/attempts/x/2/1", cwd=seed)
    return forge.started("sh", "-c", "", base=half, root=root, salvaged=1, attempt=1)


def running(started: TaskStarted, script: str) -> TaskStarted:
    engine = msgspec.structs.replace(started.engine, args=("sh", "-c", script))
    return msgspec.structs.replace(started, engine=engine)


def test_it_finds_the_work_and_what_to_compare_it_with(
    forge: Forge, half_done: TaskStarted
) -> None:
    script = """
    cat half.txt > seen
    git diff "$(grep -o '[0-9a-f]\\{40\\}' "$BRAT_PROMPT" | head -n 1)" HEAD > diff
    grep "Attempt 1 was cut off" "$BRAT_PROMPT"
    """

    left = forge.run(running(half_done, script))

    assert left.result["conclusion"] == "success", left.err
    assert left.result["why"] == "Changed 2 more files."
    clone = forge.unpacked(left)
    assert git("show", "work:seen", cwd=clone) == "half"
    assert "+half" in git("show", "work:diff", cwd=clone)
    assert git("rev-parse", "work~1", cwd=clone) == half_done.base
