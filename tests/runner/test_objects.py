"""A machine's own mirror spares the forge, and can do no harm."""

from pathlib import Path

import pytest

from tests.runner.job import Forge, git


@pytest.fixture
def mirrors(forge: Forge) -> Path:
    """Return a folder with a mirror of the forge's repository."""
    folder = forge.root / "mirrors"
    mirror = folder / "octo/hello.git"
    git("clone", "-q", "--mirror", str(forge.bare), str(mirror), cwd=forge.root)
    return folder


def test_the_base_comes_from_the_machines_mirror(forge: Forge, mirrors: Path) -> None:
    seed = forge.root / "seed"
    git("commit", "-q", "--allow-empty", "-m", "Only here", cwd=seed)
    mirror = mirrors / "octo/hello.git"
    git("push", "-q", str(mirror), "HEAD:refs/heads/ahead", cwd=seed)
    forge.base = git("rev-parse", "HEAD", cwd=seed)

    left = forge.run(
        forge.started("sh", "-c", "git log --oneline > log.txt"),
        BRAT_OBJECTS=str(mirrors),
    )

    assert left.result["conclusion"] == "success", left.err
    said = git("show", "work:log.txt", cwd=unpacked(forge, left.folder, mirror))
    assert said.endswith("Only here")
    assert "\n" not in said  # and of its history nothing


def unpacked(forge: Forge, result: Path, mirror: Path) -> Path:
    """Return a clone of the mirror that has fetched the job's bundle as `work`."""
    clone = forge.root / "clone"
    git("clone", "-q", str(mirror), str(clone), cwd=forge.root)
    bundle = str(result / "work.bundle")
    git("fetch", "-q", bundle, "HEAD:refs/heads/work", cwd=clone)
    return clone


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
