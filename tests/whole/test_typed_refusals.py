"""Writes and refs are refused in turn in a repository made from nothing, by `brat up`.

In one repository each convoy meets another refusal, and one convoy none; nobody waits
for a minute to pass: what is lifted is asked for again, as a person does it.
"""

import time
from pathlib import Path
from typing import Final

import pytest

from brat.repository.registration import BOT
from tests.whole.typed_story import Typed, copied, named_by, prepared
from tests.world.extended import forge_folder
from tests.world.forge_rules import put_hook
from tests.world.github_forge.injected_faults import Faults, Rule
from tests.world.layers import sampled
from tests.world.local_rules import ask, bare_of
from tests.world.terminal import Terminal, left_running

SAID: Final = "The story does not want it"
CODES: Final = (403, 404, 410, 422)
WRITES: Final = {
    "Unlabel asked": ("DELETE", r".*/issues/{issue}/labels/brat", ""),
    "Unlabel active": ("DELETE", r".*/issues/{issue}/labels/brat:active", ""),
    "Label": ("POST", r".*/issues/{issue}/labels", ""),
    "Comment": ("POST", r".*/issues/{issue}/comments", ""),
    "Edit": ("PATCH", r".*/issues/comments/\d+", "{convoy}"),
    "Close": ("PATCH", r".*/issues/{issue}", ""),
    "Check": ("POST", r".*/check-runs", "{convoy}"),
    "Recheck": ("PATCH", r".*/check-runs/\d+", "{convoy}"),
    "Dispatch": ("POST", r".*/dispatches", "{convoy}"),
    "Pull": ("POST", r".*/pulls", "{convoy}"),
}
"""Method, path and content of each shape of a write, by the convoy that meets it."""
NO_REFUSAL: Final = {
    ("Unlabel asked", 404),
    ("Unlabel active", 404),
    ("Check", 403),
}
"""As in test_refusal_sweep.py."""
UNSAID: Final = "comment-4"
HEALTHY: Final = "Go well"
MINUTE_S: Final = 60
REFS: Final = {
    "Base": "refs/heads/convoy/base-*/base",
    "Task": "refs/heads/convoy/task-*/task-1",
    "Queue": "refs/heads/brat/queue/convoy--queue-*--base/*",
    "Target": "refs/heads/main",
}
TARGET: Final = "Target"
"""Every convoy's: no other lands meanwhile."""
WORST: Final = 8
"""As in test_refusal_sweep.py."""

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Terminal:
    return prepared(tmp_path_factory.mktemp("prepared"))


def over(told: Typed, folder: Path) -> None:
    """Check that nothing is left over, and nothing was said that nobody understands."""
    assert told.terminal.type("brat status").status == 0
    assert "Traceback" not in told.output
    assert "fault of ours" not in told.output
    assert left_running(folder) == []


def named(told: Typed) -> set[str]:
    """Return the convoys of which the status says that something is refused."""
    return {name for name, why in told.waiting().items() if SAID in why}


def minutes_since(begun: float) -> int:
    """Return how often something may have been tried: a slow machine only has more."""
    return 1 + int((time.monotonic() - begun) // MINUTE_S)


def refused(told: Typed, convoys: set[str], unsaid: set[str]) -> None:
    """Wait until the status and the issues say what is refused, and the others land."""
    others = {*told.issues} - convoys
    told.until(
        lambda: named(told) >= convoys and told.complete() >= others,
        lambda: (convoys - named(told), others - told.complete()),
    )
    told.until(
        lambda: all(SAID in told.said(name) for name in convoys - unsaid),
        lambda: [name for name in convoys if SAID not in told.said(name)],
    )


def retried(told: Typed) -> None:
    """Ask again for what was refused, and wait until all ends as if it never was.

    One is typed, the others are asked for on their issues.
    """
    first, *rest = sorted(named(told))
    told.terminal.done(f"brat convoy retry {first}")
    for name in rest:
        path = f"issues/{told.issues[name]}/comments"
        ask(told.terminal, "POST", path, {"body": "/brat retry"})
    told.until(lambda: told.end() == told.whole(), told.end)


@pytest.mark.parametrize("turn", sampled([(n,) for n in range(len(CODES))], {(0,)}))
def test_each_write_that_is_refused_stops_one_thing(
    repository: Terminal, turn: int, tmp_path: Path
) -> None:
    told, begun = Typed(copied(repository, tmp_path)), time.monotonic()
    faults = Faults(forge_folder(told.terminal), BOT)
    rules: dict[str, Rule] = {}
    for at, (name, (method, path, body)) in enumerate(WRITES.items(), 1):
        convoy, code = named_by(name, at), CODES[(at + turn) % len(CODES)]
        about = {"issue": at, "convoy": convoy}
        rule = faults.refuse(
            method, path.format(**about), code, SAID, body=body.format(**about)
        )
        if (name, code) not in NO_REFUSAL:
            rules[convoy] = rule

    with told.up():
        told.wants([*WRITES, HEALTHY])
        refused(told, {*rules}, {UNSAID})
    with told.up():
        assert named(told) >= {*rules}, "a restart forgets"
        for convoy, rule in rules.items():
            tried = [met.at for met in faults.met() if met.rule == rule.number]
            assert len(tried) <= minutes_since(begun), (convoy, tried)
        faults.lift()
        retried(told)
    over(told, tmp_path)


@pytest.mark.parametrize("way", ["by name", "as a whole"])
@pytest.mark.parametrize("what", REFS)
def test_each_ref_that_is_refused_stops_one_thing(
    repository: Terminal, what: str, way: str, tmp_path: Path
) -> None:
    told = Typed(copied(repository, tmp_path))
    pushes, begun = tmp_path / "pushes", time.monotonic()
    said = f"{{ echo {SAID}; echo >>{pushes}; exit 1; }}"
    cases = f"case $ref in {REFS[what]}) {said};; esac"
    script = f"while read -r old new ref; do {cases}; done"
    hook = put_hook(
        bare_of(told.terminal),
        "update" if way == "by name" else "pre-receive",
        f"ref=$1; {cases}" if way == "by name" else script,
    )

    with told.up():
        told.wants([what, HEALTHY])
        sick = {*told.issues} if what == TARGET else {*told.issues} - {"go-well-2"}
        refused(told, sick, set())
    with told.up():
        assert named(told) >= sick, "a restart forgets"
        tried = len(pushes.read_text().splitlines())
        most = len(sick) if way == "by name" else WORST
        assert tried <= minutes_since(begun) * most
        hook.unlink()
        retried(told)
    over(told, tmp_path)
