"""The project's own setup: of the base commit, without secrets, and its own fault."""

import shutil
from pathlib import Path

import pytest

from convoy.model.records import Limits
from runner.box.surroundings import fill_home
from tests.runner.job import Forge, git
from tests.world.cases import looped

pytestmark = pytest.mark.layer("landing")

SCRIPT = ".brat/setup.sh"
LINKED_INFO = "rm -rf .git/info; ln -s {0} .git/info"


def with_script(forge: Forge, body: str, **more: str) -> None:
    forge.commit_on_main({SCRIPT: f"#!/bin/sh\n{body}\n", **more})


def test_it_runs_before_the_agent_in_its_checkout_and_home(forge: Forge) -> None:
    with_script(
        forge,
        "mkdir -p $HOME/.local/bin node_modules; echo installed > node_modules/it;"
        "printf '#!/bin/sh\\necho from the tool\\n' > $HOME/.local/bin/tool;"
        "chmod +x $HOME/.local/bin/tool; echo getting ready",
    )

    left = forge.sh("tool; cat node_modules/it; echo x > new")

    assert left.said == "getting ready\nfrom the tool\ninstalled\n"
    assert left.result["files"] == ["new"], "what it made is no work"


def test_the_agents_own_commit_holds_nothing_of_it_either(forge: Forge) -> None:
    with_script(
        forge,
        "mkdir 'a[b]' i; echo x | tee 'a[b]/c' i/c '!d' own; echo z > README.md",
        **{".gitignore": "i/\nown*\n"},
    )

    left = forge.sh("echo 1 | tee one i/d own2; git add -A; git commit -qm One")

    assert left.result["files"] == ["one"]
    assert left.result["left"]["notes"] == ["Left out (ignored by .gitignore): own2."]


@pytest.mark.parametrize("leave", ["rm -rf .git; ln -s {0} .git", LINKED_INFO])
def test_a_repository_that_it_replaced_by_a_link_is_not_written_to(
    leave: str, forge: Forge
) -> None:
    outside = forge.root / "outside"
    (outside / "info").mkdir(parents=True)
    (outside / "exclude").write_text("theirs")
    (outside / "info/exclude").write_text("theirs")
    with_script(forge, f"touch made; {leave.format(outside)}")

    left = forge.sh("echo 1 > one")

    assert left.result["files"] == ["one"]
    assert (outside / "exclude").read_text() == "theirs"
    assert (outside / "info/exclude").read_text() == "theirs"


def test_links_that_it_left_in_the_home_are_replaced(tmp_path: Path) -> None:
    home, outside = tmp_path / "home", tmp_path / "outside"
    for folder in (home, outside):
        folder.mkdir()
    (outside / "config").write_text("theirs")
    (home / ".a").symlink_to(outside)
    (home / "b").symlink_to(outside / "config")

    fill_home(home, {".a/config": "ours", "b": "ours", ".a/c/d": "ours"})

    assert (outside / "config").read_text() == "theirs"
    assert [each.name for each in outside.iterdir()] == ["config"]
    for name in (".a/config", "b", ".a/c/d"):
        assert (home / name).read_text() == "ours"
        assert (home / name).stat().st_mode & 0o777 == 0o600


def test_the_base_commits_script_runs_and_no_later_one(forge: Forge) -> None:
    with_script(forge, "echo ours")
    base = forge.base
    with_script(forge, "echo evil")

    left = forge.sh("echo x > new", base=base)

    assert "ours" in left.said
    assert "evil" not in left.said


@looped(
    ("echo first; echo 'No foo.' >&2; exit 4", "exited with status 4: No foo."),
    ("exit 4", "exited with status 4."),
    ("kill -KILL $$", "was killed by signal 9."),
    ("sleep 600 & wait", "was stopped after 1 s."),
)
def test_its_failure_is_the_reason_and_no_engine_starts(
    body: str, why: str, forge: Forge
) -> None:
    with_script(forge, body)
    limits = Limits(setup_s=1 if "sleep" in body else 600)

    left = forge.sh("echo x > new", limits=limits)

    told = left.result["outcome"], left.result["why"]
    assert told == ("setup", f"{SCRIPT} {why}")
    assert (left.status, left.result["commit"]) == (1, None)
    assert "SessionRunning" not in {type(each).__name__ for each in left.claims}
    shutil.rmtree(left.folder)


def test_what_it_keeps_is_there_for_the_same_script_only(
    forge: Forge, tmp_path: Path
) -> None:
    kept = {"RUNNER_TOOL_CACHE": str(tmp_path / "tools")}
    with_script(forge, "cat $BRAT_CACHE/times; echo once more >> $BRAT_CACHE/times")

    said = [again(forge, kept) for _ in range(2)]
    with_script(forge, "cat $BRAT_CACHE/times; echo other")
    other = again(forge, kept)

    assert [each.count("once more") for each in (*said, other)] == [0, 1, 0]


def again(forge: Forge, kept: dict[str, str]) -> str:
    shutil.rmtree(forge.root / "result", ignore_errors=True)
    started = forge.started("sh", "-c", "echo $BRAT_CACHE; echo x > a")
    return forge.run(started, **kept).said


def test_a_link_is_no_script(forge: Forge, tmp_path: Path) -> None:
    seed = tmp_path / "seed"
    (seed / ".brat").mkdir()
    (seed / SCRIPT).symlink_to("../README.md")
    git("add", "-A", cwd=seed)
    forge.commit_on_main({"more": "x"})

    assert forge.sh("echo x > new").result["files"] == ["new"]
