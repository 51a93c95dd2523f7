"""The story of a job: what an agent leaves, whatever it does to its checkout."""

import json
import shutil
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import EngineSpec, Gate, Limits
from convoy.text import fence_of
from runner.workspace import workspace
from tests.runner.job import SESSION, Forge, git
from tests.world.alone import ALONE
from tests.world.cases import looped

KNOWN = ", ".join(sorted(ENGINE_TYPES))
USED = "input_tokens", "cached_tokens", "output_tokens", "unpriced_tokens", "usd"
ODD = """
    echo hi > greeting.txt; echo odd > a.w
    echo '*.w working-tree-encoding=UTF-16' > .gitattributes
"""
BOMB = """
    held=$(echo x | git hash-object -w --stdin); kind=blob; mode=100644
    for level in 1 2 3 4 5 6 7 8 9 10; do
        held=$(for n in 0 1 2 3 4 5 6 7 8 9; do
            printf '%s %s %s\t%s\n' $mode $kind $held n$n; done | git mktree)
        kind=tree; mode=040000
    done
    git update-ref HEAD $(git commit-tree -p HEAD -m x $held)
"""
WHO: dict[str, Any] = {"convoy": "fix-login-7", "task": 2, "attempt": 1}


def test_work_comes_back_as_a_bundle_on_the_base(forge: Forge) -> None:
    left = forge.sh("echo hi > greeting.txt; echo One; echo All done.")

    assert (left.status, left.err) == (0, "")
    assert left.out == "fix-login-7/2/1: success. Changed 1 file.\n"
    assert left.names == {
        *("result.json", "work.bundle", "events.bin", "transcript.jsonl")
    }
    clone = forge.unpacked(left)
    assert git("rev-parse", "work^", cwd=clone) == forge.base
    assert git("show", "work:greeting.txt", cwd=clone) == "hi"
    assert git("log", "-1", "--format=%an <%ae>%n%cn%n%B", "work", cwd=clone) == (
        "brat <brat@users.noreply.github.com>\nbrat\n"
        "Greet the world\n\nBrat-Task: convoy/fix-login-7/task-2\n"
        "Signed-off-by: brat <brat@users.noreply.github.com>"
    )
    result = left.result
    assert result.pop("seconds") > 0
    assert result.pop("walls")["files"] == "namespaces"
    assert result == {
        "v": 1,
        **WHO,
        "session": "fix-login-7/2/1",
        "nonce": "n0nce",
        "status": "done",
        "conclusion": "success",
        "outcome": "uncommitted",
        "retry_after_s": None,
        "why": "Changed 1 file.",
        "summary": "All done.",
        "left": {"notes": [], "shared": [], "declined": []},
        "report": "",
        "base": forge.base,
        "commit": git("rev-parse", "work", cwd=clone),
        "exit_code": 0,
        "signal": None,
        "files": ["greeting.txt"],
        "accepted": None,
        "refusals": [],
        "engine": {"type": "shell", "model": None, "session": ""},
        "network": "",
        "box": "",
        "usage": dict.fromkeys(USED, 0),
    }


def test_what_the_agent_leaves_for_others_is_in_the_result(forge: Forge) -> None:
    token = "ghp_" + "a1B2" * 9
    left = forge.sh(
        f"echo 'BRAT: note: call it colour {token}'; echo '* BRAT: share use LANG=C';"
        "echo 'see BRAT: note'; echo hi > greeting.txt; echo 'BRAT: done It greets.'"
    )

    assert left.result["left"] == {
        "notes": ["call it colour ***"],
        "shared": ["use LANG=C"],
        "declined": [],
    }
    assert (left.result["status"], left.result["summary"]) == ("done", "It greets.")


def test_the_prompt_has_the_task_and_why_earlier_attempts_failed(forge: Forge) -> None:
    gate = Gate(protected=(".github/**",), allowed=("src/",))
    left = forge.sh("cat $BRAT_PROMPT", notes=("It was red.", "A conflict."), gate=gate)

    fence = fence_of(SESSION)
    for part in (
        f"<{fence}>\nGreet the world\n\nWrite greeting.txt.\n</{fence}>",
        f"<{fence}>\n1. It was red.\n2. A conflict.\n</{fence}>",
        "do not touch:\n`.github/**`.",
        "Only touch: `src/`.",
    ):
        assert part in left.said


def test_what_is_not_in_the_checkout_is_said(forge: Forge) -> None:
    forge.commit_on_main(
        {
            ".gitmodules": '[submodule "a"]\n\tpath = a\n\turl = ../a.git\n',
            "art/.gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
        }
    )

    left = forge.sh('cat "$BRAT_PROMPT"')

    events = (left.folder / "transcript.jsonl").read_text()
    for sentence in (workspace.SUBMODULES, workspace.LFS):
        assert sentence in left.said
        assert json.dumps(sentence) in events


def test_the_agents_own_commits_are_kept_and_the_rest_comes_on_top(
    forge: Forge,
) -> None:
    left = forge.sh(
        "echo 1 > one; git add -A; git commit -qm One;"
        "echo 2 > two; echo x > forced.log; git add -f two forced.log;"
        "git commit -qm Two;"
        "echo 3 > three; echo y > ignored.log"
    )

    clone = forge.unpacked(left)
    log = git("log", "--format=%s by %an", f"{forge.base}..work", cwd=clone)
    assert log.splitlines() == ["Greet the world by brat", "Two by brat", "One by brat"]
    assert left.result["files"] == ["forced.log", "one", "three", "two"]


@looped(
    ('rm -rf "$PWD" || true', "The agent removed its workspace.", []),
    # what can be kept is kept
    (
        ODD,
        "a.w could not be kept: BOM is required in 'a.w' if encoded as UTF-16.",
        [".gitattributes", "greeting.txt"],
    ),
    # a tree that names itself without end
    (BOMB, "The work could not be kept: ", []),
    ("for i in $(seq 1200); do mkdir d; cd d; done; git init -q x", "", []),
)
def test_work_that_cannot_be_kept_is_named(
    script: str, why: str, files: list[str], forge: Forge
) -> None:
    left = forge.sh(script)

    assert (left.status, left.result["conclusion"]) == (1, "failure"), left.err
    assert left.result["why"].startswith(why)
    assert len(left.result["why"]) <= 2_000
    assert left.result["files"] == files
    assert (left.result["commit"] is None) == (not files)
    assert ("work.bundle" in left.names) == bool(files)
    assert not any((forge.root / "work").iterdir())
    shutil.rmtree(left.folder)


def test_done_with_an_unchanged_tree_is_a_failure(forge: Forge) -> None:
    left = forge.sh("echo I did it all; echo x > ignored.log")

    assert left.status == 1
    assert left.result["status"] == "done"
    assert left.result["conclusion"] == "failure"
    changed_nothing = "The agent said that it was done, but changed nothing"
    assert left.result["why"] == f"{changed_nothing}: I did it all."
    assert left.result["commit"] is None
    assert "work.bundle" not in left.names


def test_the_gate_speaks_early_and_the_work_is_still_kept(forge: Forge) -> None:
    left = forge.sh(
        "mkdir .github; echo x > .github/ci.yml; ln -s /etc/passwd link; echo 1 > a",
        limits=Limits(patch_files=1, patch_bytes=100),
    )

    reasons = left.result["refusals"]
    assert reasons[0] == "The patch changes 2 files; the limit is 1."
    assert reasons[1].startswith("The patch is ")
    assert reasons[2:] == ["The patch changes a protected path: .github/ci.yml."]
    assert left.result["conclusion"] == "failure"
    assert left.result["why"] == " ".join(reasons[:2])
    assert left.result["commit"] == git("rev-parse", "work", cwd=forge.unpacked(left))


@pytest.mark.parametrize("secret", ["ghp_" + "a1B2c3D4e5" * 4, "the key of the vendor"])
def test_what_looks_like_a_secret_does_not_leave_the_job(
    forge: Forge, secret: str
) -> None:
    write = f"half=; echo '{secret[:9]}'$half'{secret[9:]}' > src/b.py"

    left = forge.run(
        forge.started("sh", "-c", write), OPENAI_API_KEY="the key of the vendor"
    )

    told = "The patch adds what looks like a secret: src/b.py."
    assert (left.result["conclusion"], left.result["why"]) == ("failure", told)
    assert (left.result["refusals"], left.result["commit"]) == ([told], None)
    assert "work.bundle" not in left.names


@looped(
    ("", ("no-such-program",), "Cannot start 'no-such-program': No such file "),
    ("", (), 'The engine has no command; set args, such as ["sh", "agent.sh"].'),
    ("codez", (), f"There is no engine 'codez'; available: {KNOWN}; did you mean"),
)
def test_an_engine_that_cannot_start_is_a_result(
    kind: str, args: tuple[str, ...], why: str, forge: Forge
) -> None:
    left = forge.run(forge.started(engine=EngineSpec(type=kind or "shell", args=args)))

    assert (left.status, left.result["exit_code"]) == (1, None)
    assert left.result["why"].startswith(why)
    assert left.result["status"] == "missing_tool", "so that a person is asked at once"
    shutil.rmtree(left.folder)


def test_nothing_of_the_job_stays_outside_the_result(forge: Forge) -> None:
    forge.sh(
        "echo 1 > a; mkdir -p d; chmod 000 d; echo x > $HOME/x; echo y > $TMPDIR/y"
    )

    assert list((forge.root / "temp").iterdir()) == []
    assert list((forge.root / "work").iterdir()) == []


WORK = """
import sys
from pathlib import Path
from runner.workspace.workspace import fresh

with fresh(Path(sys.argv[1])) as folder:
    (folder / "shut").mkdir(mode=0)
    (folder / "kept").mkdir()
    (folder / "kept/link").symlink_to(sys.argv[2])
    (folder / "kept").chmod(0o555)
print(folder.exists())
"""


@pytest.mark.needs("unshare")
def test_what_a_link_leads_to_keeps_its_mode_when_the_workspace_is_removed(
    tmp_path: Path,
) -> None:
    outside = tmp_path / "outside"
    outside.write_text("theirs")
    outside.chmod(0o644)
    argv = (*ALONE, sys.executable, "-c", WORK, str(tmp_path / "work"), str(outside))

    done = subprocess.run(argv, capture_output=True, text=True, check=True)

    assert done.stdout == "False\n"
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
