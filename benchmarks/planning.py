"""What planning costs beside the model, for a large project: survey and rules."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Final

import pygit2

from bot.repository.commits import Commits
from convoy.answers import plan_brief
from convoy.model.records import EngineSpec
from convoy.model.state import State
from convoy.planner.plan_reader import House, imports_beside, read_plan, strength
from grite import git

FILES: Final = 50_000
FOLDERS: Final = 500
TESTS: Final = 500
"""So many of the files are tests."""
COMMITS: Final = 600
TASKS: Final = 20
ENGINES: Final = {"default": EngineSpec(type="claude-code")}


def planning(folder: Path, repeats: int) -> dict[str, object]:
    """Plan 20 tasks in a project of 50,000 files, with the answer ready."""
    commit = _project(folder)
    runs = [_run(folder, commit) for _ in range(repeats)]
    steps = {f"{name}_s": [round(run[name], 2) for run in runs] for name in runs[0]}
    whole = [run["survey"] + run["rules"] for run in runs]
    return {
        "files": FILES,
        **steps,
        "median_s": round(median(whole), 2),
        "cpu_median_s": round(median(run["cpu"] for run in runs), 2),
        "aim_s": 2.0,
    }


def _run(folder: Path, commit: str) -> dict[str, float]:
    """Return the seconds of each step, and of processors for all of them."""
    begun, cpu = time.perf_counter(), _cpu()
    commits = Commits(folder)
    survey = commits.surveyed(commit)
    engines = {name: strength(State(), each) for name, each in ENGINES.items()}
    assert plan_brief(survey, engines, TASKS, "a-long-fence")
    surveyed_at = time.perf_counter()
    house = House(
        files=commits.files(commit),
        engines=ENGINES,
        limit=TASKS,
        text=commits.text(commit),
    )
    tasks = read_plan(_answer(), house)
    imports_beside(tasks, house)
    assert any(wait.why.startswith("tests/") for task in tasks for wait in task.waits)
    ruled_at = time.perf_counter()
    return {
        "survey": surveyed_at - begun,
        "rules": ruled_at - surveyed_at,
        "cpu": _cpu() - cpu,
    }


def _cpu() -> float:
    """Return the processors' seconds so far, with those of git."""
    return sum(os.times()[:4])


def _name(number: int) -> str:
    folder = number % FOLDERS
    if number >= FILES - TESTS:
        return f"tests/part{folder // 25}/test_module{number}.py"
    return f"src/part{folder // 25}/pack{folder}/module{number}.py"


def _text(number: int) -> str:
    """Return a file of some 3 kB that imports four others."""
    others = ((number * 7 + step * 131) % (FILES - TESTS) for step in range(4))
    names = [_name(other) for other in others]
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
            _put(repo, index, (commit * 37 + step * 2_629) % FILES, f"# {commit}\n")
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
    """Give 16 tasks on code of their own, and 4 on tests of other parts."""
    for number in range(TASKS):
        is_test = number % 5 == 4
        paths = [f"src/part{number}/", _name(number * 25)]
        yield {
            "title": f"Do part {number}",
            "instructions": "Do it well.",
            "paths": [f"tests/part{number}/"] if is_test else paths,
            "creates": [] if is_test else [f"tests/made/test_part{number}.py"],
        }
