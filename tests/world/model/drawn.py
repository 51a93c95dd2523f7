"""What hypothesis draws: small plans and the configurations they run under."""

from collections.abc import Sequence
from typing import Final, TypeVar

from hypothesis import strategies as st

from convoy.model.records import EngineSpec, Settings

PATHS: Final = ("", "paths: src/", "paths: src/a.py", "paths: docs/")
NEEDS: Final = ("", "needs: port:80")
ENGINES: Final = ("", "", "engine: docs")
T = TypeVar("T")

which = st.integers(0, 11)
"""Says which of the things there are; see `chosen`."""


def chosen(things: Sequence[T], number: int) -> T:
    """Return one of them, whatever the number."""
    return things[number % len(things)]


@st.composite
def plans(draw: st.DrawFn) -> str:
    """Write an issue with at most four open tasks, each after some of those before."""
    numbers = draw(st.sets(st.integers(1, 8), min_size=1, max_size=4))
    open_ = [0]
    lines: list[str] = []
    for number in range(1, max(numbers) + 1):
        if number not in numbers:
            lines.append(f"- [x] Task {number}")
            continue
        after = sorted(draw(st.sets(st.sampled_from(open_))) - {0})
        marks = [
            f"(after {', '.join(map(str, after))})" if after else "",
            draw(st.sampled_from(PATHS)),
            draw(st.sampled_from(NEEDS)),
            draw(st.sampled_from(ENGINES)),
        ]
        lines.append(" ".join(filter(None, (f"- [ ] Task {number}", *marks))))
        open_.append(number)
    return "\n".join(lines)


def _engines(default: int, docs: int) -> dict[str, EngineSpec]:
    return {
        "default": EngineSpec(type="shell", max_sessions=default),
        "docs": EngineSpec(type="shell", max_sessions=docs),
    }


patterns = st.sampled_from(["", "", "", "", "tdd", "writer-reviewer", "best-of"])
configurations = st.builds(
    Settings,
    engines=st.builds(_engines, st.integers(1, 4), st.integers(1, 2)),
    strategy=st.sampled_from(["rebase", "squash", "merge"]),
    require_ci=st.sampled_from([True, True, True, False]),
    checks=st.sampled_from([(), ("ci",)]),
    attempts=st.sampled_from([1, 1, 2, 3]),
    max_sessions=st.sampled_from([1, 3, 6]),
    locks=st.sampled_from(["require", "require", "warn", "off"]),
    approve=st.sampled_from(["auto", "auto", "auto", "plan"]),
    approvals=st.sampled_from([0, 0, 0, 2]),
    splitter=st.sampled_from(["", "docs"]),
)
