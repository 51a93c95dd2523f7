"""What planning costs beside the model, for a large project: from survey to risks."""

import json
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import pygit2

from bot.repository.foreseen import foreseen
from bot.repository.survey import files_at, surveyed
from convoy.events import EngineSpec
from convoy.planner.answer import House, read
from convoy.planner.brief import brief
from convoy.planner.strengths import strengths
from convoy.state import State
from grite import git

FILES: Final = 50_000
FOLDERS: Final = 500
COMMITS: Final = 600
TASKS: Final = 20
ENGINES: Final = {"default": EngineSpec(type="claude-code")}


def planning(folder: Path, repeats: int) -> dict[str, object]:
    """Plan 20 tasks in a project of 50,000 files, with the answer ready."""
    commit = _project(folder)
    surveys, rules, risks = [], [], []
    told = ""
    for _ in range(repeats):
        begun = time.perf_counter()
        told = brief(
            surveyed(folder, commit), strengths(State(), ENGINES), TASKS, "a-long-fence"
        )
        surveyed_at = time.perf_counter()
        house = House(files=files_at(folder, commit), engines=ENGINES, limit=TASKS)
        tasks = read(_answer(), house)
        assert len(tasks) == TASKS
        ruled_at = time.perf_counter()
        foreseen(folder, commit, tasks)
        surveys.append(surveyed_at - begun)
        rules.append(ruled_at - surveyed_at)
        risks.append(time.perf_counter() - ruled_at)
    return {
        "files": FILES,
        "survey_s": [round(each, 2) for each in surveys],
        "rules_s": [round(each, 2) for each in rules],
        "risks_s": [round(each, 2) for each in risks],
        "median_s": round(median(map(sum, zip(surveys, rules, risks, strict=True))), 2),
        "aim_s": 2.0,
        "brief_chars": len(told),
    }


def _name(number: int) -> str:
    folder = number % FOLDERS
    return f"src/part{folder // 25}/pack{folder}/module{number}.py"


def _text(number: int) -> str:
    """Return a file of some 3 kB that imports four others."""
    names = [_name((number * 7 + step * 131) % FILES) for step in range(4)]
    lines = [name[4:-3].replace("/", ".") for name in names]
    imports = "".join(f"from {line} import work\n" for line in lines)
    body = f'    """Do piece {number}."""\n    return left + right * {number}\n\n\n'
    works = (
        f"def work_{each}(left: int, right: int) -> int:\n{body}" for each in range(30)
    )
    return imports + "\n\n" + "".join(works)


def _project(folder: Path) -> str:
    """Write the project and its history; return its last commit."""
    repo = pygit2.init_repository(str(folder), bare=True)
    index = pygit2.Index()
    for number in range(FILES):
        _put(repo, index, number, "")
    parent: list[pygit2.Oid] = []
    for commit in range(COMMITS):
        for step in range(3):
            _put(repo, index, (commit * 37 + step * 500) % FILES, f"# {commit}\n")
        tree = index.write_tree(repo)
        who = pygit2.Signature("Ann", "ann@example.org", 1_700_000_000 + commit, 0)
        parent = [repo.create_commit(None, who, who, "Work", tree, parent)]
    repo.create_reference("refs/heads/main", parent[0])
    git.run(["repack", "-adq"], cwd=folder, deadline_s=600)  # as fetched
    return str(parent[0])


def _put(repo: pygit2.Repository, index: pygit2.Index, number: int, more: str) -> None:
    blob = repo.create_blob((_text(number) + more).encode())
    mode = pygit2.enums.FileMode.BLOB
    index.add(pygit2.IndexEntry(_name(number), blob, mode))


def _answer() -> str:
    return json.dumps({"tasks": [*_steps()]})


def _steps() -> Iterator[dict[str, object]]:
    for number in range(TASKS):
        yield {
            "title": f"Do part {number}",
            "instructions": "Do it well.",
            "paths": [f"src/part{number}/", _name(number * 3)],
            "creates": [f"tests/test_part{number}.py"],
        }
