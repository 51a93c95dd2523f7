"""The projects whose histories are done again, and how their tests are run.

Nothing of them is kept here. A project is cloned once from github.com into a folder
outside git, or found in a folder of clones that is given; its environment is made once,
too.

What no agent may touch (`.github/` and the like), and what tells CI what to run, which
a person has to approve, stays all the time as it is at the end; steps of the main line
that touch nothing else are left out.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pygit2
from msgspec import Struct

from benchmarks.replay import history
from benchmarks.replay.history import History
from convoy.gate import ci_files
from convoy.model.records import Gate
from grite import git
from grite.errors import BratError

CLONE_S: Final = 600.0
_KEPT: Final = tuple(each.removesuffix("/**") for each in Gate().protected)
_WHO: Final = pygit2.Signature("Replay", "replay@example.invalid", 1_700_000_000, 0)


class Project(Struct, frozen=True, kw_only=True):
    """A project on GitHub, and the part of its history that is done again."""

    repository: str
    end: str
    """The last change."""
    tests: str
    """Its tests as a line of sh, with `pytest` for the environment's."""
    needs: tuple[str, ...] = ()
    """What they need beside pytest."""
    changes: int = 25
    """How many changes up to the last; all of them are green in this environment."""


PROJECTS: Final[dict[str, Project]] = {
    "boltons": Project(
        repository="mahmoud/boltons",
        end="967864f",
        tests="pytest tests",
    ),
    "click": Project(
        repository="pallets/click",
        end="ba745ac6",
        tests="PYTHONPATH=src pytest tests --ignore=tests/test_stream_lifecycle.py",
    ),
    "pyjwt": Project(
        repository="jpadilla/pyjwt",
        end="dcc27a9",
        tests="pytest tests",
        needs=("cryptography==50.0.2",),
        changes=22,
    ),
    "slugify": Project(
        repository="un33k/python-slugify",
        end="c094c8a",
        tests="pytest test.py",
        needs=("text-unidecode==1.3",),
    ),
    "toolz": Project(
        repository="pytoolz/toolz",
        end="568c2b8",
        tests="pytest --deselect toolz/tests/test_package.py::test_has_version",
        changes=22,
    ),
    "tomli": Project(
        repository="hukkin/tomli",
        end="871f2c1",
        tests="PYTHONPATH=src pytest tests",
    ),
}


def prepared(name: str, folder: Path, clones: Path | None) -> History:
    """Make a project's history ready; what was made before is used again.

    Args:
        name: of the project.
        folder: outside git; its clone and environment stay there.
        clones: a folder of clones named `owner+name` or `owner/name`; None: clone it.

    Raises:
        BratError: it is not among the clones that are given.
    """
    project = PROJECTS[name]
    folder.mkdir(parents=True, exist_ok=True)
    source = _source(project, folder, clones)
    python = _environment(name, project, folder)
    pytest = f"{python} -m pytest -q -p no:cacheprovider"
    place = folder / f"{name}.git"
    end = _line_of_allowed(source, place, project)
    return history.read(
        name, place, project.tests.replace("pytest", pytest, 1), end, project.changes
    )


def _source(project: Project, folder: Path, clones: Path | None) -> Path:
    named = project.repository, project.repository.replace("/", "+")
    if clones is not None:
        places = (clones / each / end for each in named for end in ("repo", ".git", ""))
        found = next((each for each in places if (each / "objects").is_dir()), None)
        if found is None:
            raise BratError(
                f"{project.repository} is not in {clones}: clone it there as {named[1]}"
                ", or leave --histories out, and it is cloned from github.com"
            )
        return found
    place = folder / "clones" / named[1]
    if not place.exists():
        address = f"https://github.com/{project.repository}"
        asked = ["clone", "--quiet", "--bare", address, str(place)]
        git.run(asked, deadline_s=CLONE_S)
    return place


def _environment(name: str, project: Project, folder: Path) -> Path:
    """Return the Python that has what the tests need."""
    place = folder / "environments" / name
    python = place / "bin/python"
    made = place / "made"
    if not made.exists():
        uv = Path(sys.executable).with_name("uv")
        _done(uv, "venv", "--quiet", "--clear", "--python", sys.executable, place)
        needs = ("pytest==8.4.2", *project.needs)
        _done(uv, "pip", "install", "--quiet", "--python", python, *needs)
        made.touch()
    return python


def _done(*argv: str | Path) -> None:
    """Run a program that speaks to a package registry, configured as its user's."""
    subprocess.run(argv, check=True, timeout=CLONE_S)


def _line_of_allowed(source: Path, place: Path, project: Project) -> str:
    """Make the main line again, of what agents may touch; return its last commit."""
    objects = git.run(["rev-parse", "--git-path", "objects"], cwd=source).stdout
    repo = pygit2.init_repository(str(place), bare=True)
    borrowed = (source / objects.decode().strip()).resolve()
    (place / "objects/info/alternates").write_text(f"{borrowed}\n", encoding="utf-8")
    repo = pygit2.Repository(str(place))
    trees = [*_trees(repo, project)]
    above: list[pygit2.Oid] = []
    for tree, said in reversed(trees):
        commit = repo.create_commit(None, _WHO, _WHO, said, tree, above)
        above = [commit]
    repo.references.create("refs/heads/main", above[0], force=True)
    return str(above[0])


def _trees(
    repo: pygit2.Repository, project: Project
) -> Iterator[tuple[pygit2.Oid, str]]:
    """Give the last trees of the main line that differ, the newest first."""
    commit = repo.revparse_single(project.end).peel(pygit2.Commit)
    kept = [each for each in commit.tree if _is_kept(each)]
    last = None
    left = project.changes + 1
    while left:
        builder = repo.TreeBuilder(commit.tree)
        for each in commit.tree:
            if _is_kept(each):
                builder.remove(str(each.name))
        for each in kept:
            builder.insert(str(each.name), each.id, each.filemode)
        tree = builder.write()
        if tree != last:
            yield tree, commit.message
            last, left = tree, left - 1
        commit = commit.parents[0]


def _is_kept(one: pygit2.Object) -> bool:
    """Whether something at the top of a tree stays as it is at the end."""
    name = str(one.name)
    inside = f"{name}/any" if one.type_str == "tree" else name
    return name in _KEPT or bool(ci_files((inside,)))
