"""Who imports whom: circles of files and of rooms, and what climbs."""

import ast
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping

import networkx as nx

from benchmarks.house.tree import PACKAGES, Source

Graph = dict[str, set[str]]


def of_files(files: Iterable[Source]) -> Graph:
    """Return which module imports which, late imports and imports for types included.

    That a module of a package runs the package's `__init__` first is left out.
    """
    listed = list(files)
    known = {source.module for source in listed}
    return {
        source.module: set(_imported(source, known)) - {source.module}
        for source in listed
    }


def of_rooms(files: Graph) -> Graph:
    """Return which room imports which; a file beside rooms is a room of its own."""
    parents = {module.rpartition(".")[0] for module in files}
    tops = {parent for parent in parents if parent.count(".") == 0}

    def room(module: str) -> str:
        parent = module.rpartition(".")[0]
        return module if parent in tops or not parent or module in parents else parent

    graph: Graph = defaultdict(set)
    for module, imported in files.items():
        graph[room(module)] |= {room(name) for name in imported} - {room(module)}
    return dict(graph)


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """Return the groups whose members all reach each other, largest first."""
    rooms: nx.DiGraph[str] = nx.DiGraph(graph)
    groups = nx.strongly_connected_components(rooms)
    found = [sorted(group) for group in groups if len(group) > 1]
    return sorted(found, key=lambda group: (-len(group), group))


def climbing(files: Graph) -> int:
    """Return how many imports of files point up in the order that has fewest such.

    Only inside circles of rooms can an import climb; the order is found by taking the
    room away that the others of its circle import least, again and again.
    """
    rooms = of_rooms(files)
    weight: Counter[tuple[str, str]] = Counter()
    for module, imported in files.items():
        for name in imported:
            above, below = _room_in(rooms, module), _room_in(rooms, name)
            weight[above, below] += above != below
    return sum(_climbing(set(circle), weight) for circle in circles(rooms))


def _climbing(circle: set[str], weight: Counter[tuple[str, str]]) -> int:
    left, up = set(circle), 0
    while left:
        climbs = {
            room: sum(weight[other, room] for other in left - {room}) for room in left
        }
        top = min(left, key=lambda room: (climbs[room], room))
        up += climbs[top]
        left.remove(top)
    return up


def _room_in(rooms: Graph, module: str) -> str:
    return module if module in rooms else module.rpartition(".")[0]


def _imported(source: Source, known: set[str]) -> Iterator[str]:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [
                inner
                if (inner := f"{node.module}.{alias.name}") in known
                else node.module
                for alias in node.names
            ]
        else:
            continue
        yield from (name for name in names if name.split(".")[0] in PACKAGES)
