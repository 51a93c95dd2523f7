"""Whether every task of a soak landed exactly once."""

from collections import Counter
from collections.abc import Iterator

from benchmarks.soak.place import REPOSITORIES, Place
from brat.repository.log_reader import Reader
from convoy.model.state import Convoy
from grite import git


def faults(place: Place, count: int) -> Iterator[str]:
    """Yield what was lost or done twice; `count` tasks a convoy."""
    for each in REPOSITORIES:
        convoys = Reader(place.bare(each)).read().convoys
        added = _added(place, each)
        for convoy in convoys.values():
            yield from _of_convoy(each, convoy, count, added)
        wanted = {f"work/{name}/" for name in convoys}
        for path in added:
            if not path.startswith(tuple(wanted)) and path.count("/") > 1:
                yield f"{each}: {path} belongs to no convoy"


def _of_convoy(
    repository: str, convoy: Convoy, count: int, added: Counter[str]
) -> Iterator[str]:
    where = f"{repository} {convoy.name}"
    if convoy.state != "complete":
        yield f"{where} is {convoy.state}: {convoy.why}"
    if len(convoy.tasks) != count:
        yield f"{where} has {len(convoy.tasks)} tasks"
    for task in convoy.tasks:
        if task.state != "merged":
            yield f"{where}: task {task.number} is {task.state}"
        times = added[f"work/{convoy.name}/{task.number}.txt"]
        if times != 1:
            yield f"{where}: the work of task {task.number} landed {times} times"


def _added(place: Place, repository: str) -> Counter[str]:
    """Return how often each file was added on the default branch."""
    args = ("log", "--no-merges", "--diff-filter=A", "--name-only", "--format=", "main")
    said = git.run(args, cwd=place.bare(repository)).stdout.decode()
    return Counter(line for line in said.splitlines() if line)
