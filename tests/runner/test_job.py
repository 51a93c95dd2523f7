"""The story of a job, from the hand-off to the result folder."""

from convoy.events import (
    FilesModified,
    SessionExited,
    SessionHandoff,
    SessionReady,
    SessionRunning,
    SessionSpawned,
)
from tests.runner.job import Forge, git


def test_work_comes_back_as_a_bundle_on_the_base(forge: Forge) -> None:
    left = forge.sh("cat $BRAT_PROMPT; echo hi > greeting.txt; echo All done.")

    assert (left.status, left.err) == (0, "")
    assert left.names == {
        *("result.json", "work.bundle", "events.bin", "transcript.jsonl"),
    }
    result = left.result
    clone = forge.unpacked(left)
    assert git("rev-parse", "work", "work^", cwd=clone).split() == [
        result["commit"],
        forge.base,
    ]
    assert git("show", "work:greeting.txt", cwd=clone) == "hi"
    assert git("log", "-1", "--format=%an <%ae>%n%cn%n%B", "work", cwd=clone) == (
        "brat <brat@users.noreply.github.com>\nbrat\n"
        "Greet the world\n\nBrat-Task: convoy/fix-login-7/task-2"
    )
    assert result.pop("seconds") > 0
    assert result == {
        "v": 1,
        "session": "fix-login-7/2/1",
        "convoy": "fix-login-7",
        "task": 2,
        "attempt": 1,
        "nonce": "n0nce",
        "status": "done",
        "conclusion": "success",
        "why": "Changed 1 file.",
        "summary": "All done.",
        "base": forge.base,
        "commit": git("rev-parse", "work", cwd=clone),
        "exit_code": 0,
        "signal": None,
        "files": ["greeting.txt"],
        "refusals": [],
        "engine": {"type": "shell", "model": None},
    }
