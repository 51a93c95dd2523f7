"""A machine's own mirror spares the forge, and can do no harm."""

import json
import os
from pathlib import Path

import pytest

from runner.box.agent_box import cannot_box
from tests.runner.job import Forge, git


@pytest.fixture
def mirrors(forge: Forge) -> Path:
    folder = forge.root / "mirrors"
    mirror = folder / "octo/hello.git"
    git("clone", "-q", "--mirror", str(forge.bare), str(mirror), cwd=forge.root)
    return folder


@pytest.mark.parametrize("is_anothers", [False, True])
def test_the_base_comes_from_the_machines_mirror_whosever_that_is(
    forge: Forge, mirrors: Path, *, is_anothers: bool
) -> None:
    mirror, seed = mirrors / "octo/hello.git", forge.root / "seed"
    git("commit", "-q", "--allow-empty", "-m", "Only here", cwd=seed)
    git("push", "-q", str(mirror), "HEAD:refs/heads/ahead", cwd=seed)
    forge.base = git("rev-parse", "HEAD", cwd=seed)  # which the forge does not have
    if is_anothers and os.geteuid() != 0:
        pytest.skip("only root may give files away")
    for each in (mirror, *mirror.rglob("*")) if is_anothers else ():
        os.chown(each, 12345, 12345)

    left = forge.run(
        forge.started("sh", "-c", "git log --oneline > log.txt"),
        BRAT_OBJECTS=str(mirrors),
    )

    assert left.result["conclusion"] == "success", left.err
    if not is_anothers:
        said = git("show", "work:log.txt", cwd=forge.unpacked(left, of=mirror))
        assert said.endswith("Only here")
        assert "\n" not in said  # and of its history nothing


def test_an_agent_can_neither_see_the_mirror_nor_needs_it(
    forge: Forge, mirrors: Path
) -> None:
    script = (
        f"ls {mirrors}/octo > seen.txt; rm -rf {mirrors}/octo;"
        "test ! -e .git/objects/info/alternates && git fsck && git log > log.txt"
    )

    left = forge.run(forge.started("sh", "-c", script), BRAT_OBJECTS=str(mirrors))

    assert left.result["conclusion"] == "success", left.err
    if not cannot_box():
        assert git("show", "work:seen.txt", cwd=forge.unpacked(left)) == ""
        git("fsck", "--connectivity-only", cwd=mirrors / "octo/hello.git")


@pytest.mark.parametrize("harm", ["is not there", "lacks the commit", "is broken"])
def test_without_a_mirror_of_use_the_forge_is_asked(
    forge: Forge, mirrors: Path, harm: str
) -> None:
    mirror = mirrors / "octo/hello.git"
    match harm:
        case "is not there":
            mirror.rename(mirrors / "other.git")
        case "lacks the commit":
            forge.commit_on_main({"new.txt": "new\n"})
        case _:
            (mirror / "HEAD").write_text("nonsense")

    left = forge.run(forge.started("sh", "-c", "echo 1 > a"), BRAT_OBJECTS=str(mirrors))

    assert left.result["conclusion"] == "success", left.err
    assert left.result["files"] == ["a"]


@pytest.mark.parametrize(
    "told", ["nothing", "main", "no: branch", "a mirror", "its origin", "its place"]
)
def test_an_agent_knows_tags_and_the_branch_it_builds_on_as_in_a_clone(
    forge: Forge, mirrors: Path, told: str
) -> None:
    for name, options in (("light", ()), ("v1.0", ("--annotate", "--message=1.0"))):
        git("tag", *options, name, forge.base, cwd=forge.bare)
    script = (
        "{ git describe; git describe --tags --match=light; } > said.txt;"
        "git diff --exit-code origin/main...HEAD &&"
        "test $(git merge-base HEAD origin/main) = $(git rev-parse v1.0^{commit}) &&"
        'test -z "$(git remote)"'
    )
    changes = {}
    if told == "a mirror":
        changes["BRAT_OBJECTS"] = str(mirrors)
    elif told in {"its origin", "its place"}:
        if told == "its place":
            changes["BRAT_FORGE"] = str(forge.bare)
        script = f"git diff --exit-code origin/trunk...HEAD && {script}"
        other = git("commit-tree", "-m", "x", f"{forge.base}^{{tree}}", cwd=forge.bare)
        git("update-ref", "refs/remotes/origin/trunk", other, cwd=forge.bare)
        git("update-ref", "refs/remotes/origin/a\u2028b", other, cwd=forge.bare)
    if told in {"main", "no: branch", "its place"}:
        event = changes["GITHUB_EVENT_PATH"] = str(forge.root / "event.json")
        branch = "main" if told == "its place" else told
        named = {"repository": {"default_branch": branch}}
        Path(event).write_text(json.dumps(named))

    left = forge.run(forge.started("sh", "-c", script), **changes)

    is_named = told != "no: branch"  # which keeps nobody from starting
    assert (left.result["conclusion"] == "success") == is_named, left.err
    said = git("show", "work:said.txt", cwd=forge.unpacked(left)).split()
    assert said[:2] == (["v1.0", "light"] if is_named else [])
