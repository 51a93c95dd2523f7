"""A walk through what people type and do in a repository made from nothing.

Each step is a command or a gesture, drawn from a seed; between two steps nothing runs
but the sessions that have begun.
"""

import json
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any, Final

from msgspec.structs import replace

from brat.repository.forge_files import forge_in_use
from brat.repository.registration import BOT
from tests.world.extended import extended, forge_folder
from tests.world.forge_rules import put_hook
from tests.world.github_forge.injected_faults import Faults
from tests.world.local_rules import ask, at_rest, bare_of
from tests.world.patience import patient
from tests.world.second_reader import rows
from tests.world.staying import typed, until
from tests.world.terminal import Said, Terminal, new_terminal
from tests.world.words import engine

CONVOYS: Final = 3
CALLS: Final = 60
"""A headless run of one convoy has about so many outside calls that write."""
TIMEOUT: Final = "--timeout 20s"
ENDS: Final = {0, 1, 3}
"""The documented exit statuses of a headless run that is used as it should be."""
REFUSABLE: Final = (
    ("POST", r".*/issues/\d+/labels"),
    ("POST", r".*/issues/\d+/comments"),
    ("PATCH", r".*/issues/.*"),
    ("POST", r".*/dispatches"),
    ("POST", r".*/pulls"),
    ("POST", r".*/check-runs"),
)
CODES: Final = (403, 404, 410, 422, 500, 502)
REFS: Final = ("refs/heads/convoy/*/base", "refs/heads/convoy/*/task-1", "refs/grite/*")
SAID: Final = "The walk does not want it"


AGENT: Final = 'echo done > "$BRAT_CONVOY.txt"'
STATUSES: Final = {0, 1}
"""What `brat status` may end with: all is well, or somebody is waited for."""
DEADLINE_S: Final = patient(240)
LOOK_S: Final = 0.5


def prepared(folder: Path) -> Terminal:
    """Make a repository with one commit that brat knows."""
    terminal = extended(new_terminal(folder))
    files = {"README.md": "# Notes\n", ".brat/config.toml": _CONFIG}
    terminal.commit("Begin", files)
    terminal.done("brat init")
    return terminal


_CONFIG: Final = engine(AGENT, '[ci]\ncommand = "true"\n')


def copied(terminal: Terminal, folder: Path) -> Terminal:
    """Return a terminal in a copy of the repository, with the same home."""
    shutil.copytree(terminal.cwd, folder / "project", symlinks=True)
    return Terminal(folder / "project", terminal.home)


@dataclass
class Typed:
    """A terminal, and what a person asked for in it."""

    terminal: Terminal
    issues: dict[str, int] = field(default_factory=dict)
    """Numbers of the issues, by the names of their convoys."""
    output: str = ""
    """What every `brat up` that ended has said."""

    @contextmanager
    def up(self) -> Iterator[None]:
        """Run `brat up` for a while."""
        with typed(self.terminal, "up", "--no-dashboard") as process:
            assert process.stdout is not None
            begun = ""
            for line in process.stdout:
                begun += line
                if "watching" in line:
                    break
            else:
                raise AssertionError(begun)
            yield
            process.terminate()
            self.output += begun + process.stdout.read()

    def status(self) -> dict[str, Any]:
        """Type `brat status --json`."""
        said = self.terminal.type("brat status --json")
        assert said.status in STATUSES, said.err
        assert "Traceback" not in said.err
        found: dict[str, Any] = json.loads(said.out)
        return found

    def complete(self) -> set[str]:
        """Return the convoys that are over."""
        return {c["name"] for c in self.status()["convoys"] if c["state"] == "complete"}

    def waiting(self) -> dict[str, str]:
        """Return why each convoy waits for a person; empty: a thing of no convoy."""
        return {i["convoy"]: i["why"] for i in self.status()["interventions"]}

    def until(self, holds: Callable[[], bool], what: Callable[[], object]) -> None:
        """Wait until something holds; `what` says why it does not."""
        until = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < until, what()
            time.sleep(LOOK_S)

    def end(self) -> dict[str, object]:
        """Return what there is when all is over; the forge is served."""
        listed = ask(self.terminal, "GET", "issues?state=all&per_page=100")
        pulls = ask(self.terminal, "GET", "pulls?state=all&per_page=100")
        runs = ask(
            self.terminal, "GET", "actions/runs?per_page=100&event=workflow_dispatch"
        )
        git = f"git -C {bare_of(self.terminal)}"
        files = self.terminal.done(f"{git} ls-tree --name-only main").split()
        return {
            "complete": self.complete(),
            "waiting": self.waiting(),
            "open": [each["number"] for each in listed if each["state"] == "open"],
            "merged": sum(each["merged_at"] is not None for each in pulls),
            "runs": runs["total_count"],
            "files": {Path(name).stem for name in files if name.endswith(".txt")},
            "queue": self.terminal.done(f"{git} for-each-ref refs/heads/brat/queue"),
        }

    def whole(self) -> dict[str, object]:
        """Return what `end` is when nothing was ever refused."""
        return {
            "complete": {*self.issues},
            "waiting": {},
            "open": [],
            "merged": 2 * len(self.issues),
            "runs": len(self.issues),
            "files": {*self.issues},
            "queue": "",
        }


CLOSED: Final = "state=closed&per_page=100"
OPEN: Final = {"state": "open"}


def close_something(terminal: Terminal, random: Random) -> str:
    """Close an open issue or pull request; return which, or nothing."""
    home = forge_folder(terminal).parent
    until(
        lambda: not forge_in_use(home)
    )  # the forge of a command that was killed ends soon
    with at_rest(terminal) as forge, forge.store.change():
        found = [one for one in forge.store.issues.all() if one.state == "open"]
        if not found:
            return ""
        one, now = random.choice(found), forge.now()
        forge.store.issues.put(
            replace(one, state="closed", closed_at=now, updated_at=now)
        )
    return f"close #{one.number}"


def open_again(terminal: Terminal, over: Callable[[], set[int]]) -> None:
    """Open what is closed, while the forge is served.

    Args:
        terminal: where brat is typed.
        over: returns the issues that brat itself has closed, or will.
    """
    for pull in ask(terminal, "GET", f"pulls?{CLOSED}"):
        if pull["merged_at"] is None:
            ask(terminal, "PATCH", f"pulls/{pull['number']}", OPEN)
    listed = ask(terminal, "GET", f"issues?{CLOSED}")
    closed = {one["number"] for one in listed if "pull_request" not in one}
    for number in closed - (over() if closed else set()):
        ask(terminal, "PATCH", f"issues/{number}", OPEN)


@dataclass
class Walk(Typed):
    """A person who does things in the order of a seed."""

    random: Random = field(default_factory=Random)
    asked: int = 0
    done: list[str] = field(default_factory=list)
    """What was typed or done, with how it ended: a failure shows it."""

    @property
    def faults(self) -> Faults:
        """What the forge refuses the bot."""
        return Faults(forge_folder(self.terminal), BOT)

    @property
    def steps(self) -> tuple[Callable[[], None], ...]:
        """Everything that can be done next."""
        return (
            *(self.start, self.go_on, self.go_on, self.lock, self.commit),
            *(self.refuse, self.lift, self.retry, self.pause, self.resume, self.look),
            *(self.close, self.close),
        )

    def walk(self, length: int) -> None:
        """Take so many steps, the first of which asks for a convoy."""
        self.start()
        for _ in range(length):
            self.random.choice(self.steps)()
            self.hold()

    def typed(self, line: str, ends: set[int]) -> Said:
        """Type a line that may end so, and that never shows a traceback."""
        said = self.terminal.type(line)
        self.done.append(f"{line} -> {said.status}")
        assert said.status in ends, (self.done, said.err)
        assert "Traceback" not in said.err + said.out, (self.done, said.err)
        assert "fault of ours" not in said.err, (self.done, said.err)
        return said

    # --- steps ----------------------------------------------------------------------

    def start(self) -> None:
        """Ask for a convoy, with or without running it; often that is killed."""
        if self.asked == CONVOYS:
            return self.go_on()
        self.asked += 1
        line = f"brat mayor start --task 'Walk {self.asked}'"
        if self.random.randrange(2):
            self._killed(f"{line} --headless {TIMEOUT}", CALLS)
        else:
            self._killed(line, CALLS // 3)
        return None

    def go_on(self) -> None:
        """Run one role; often it is killed."""
        role = self.random.choice(("mayor", "witness", "refinery", "deacon"))
        self._killed(f"brat {role} run", CALLS // 3)

    def _killed(self, line: str, calls: int) -> None:
        if self.random.random() < 1 / 3:
            self.typed(line, ENDS)
            return
        at, after = self.random.randrange(calls), self.random.randrange(2)
        deadly = f"env BRAT_DIES_AT={at} BRAT_DIES_AFTER={after} {line}"
        self.typed(deadly, {*ENDS, -signal.SIGKILL})

    def lock(self) -> None:
        """Hold what every task may want, for a moment."""
        self.typed("brat lock acquire path:README.md --ttl 2", STATUSES)

    def commit(self) -> None:
        """Commit to the branch that everything lands on."""
        name = f"mine-{len(self.done)}.md"
        self.terminal.commit("Write a line", {name: "mine\n"})
        self.done.append(f"commit {name}")

    def close(self) -> None:
        """Close an issue or a pull request on the forge."""
        if did := close_something(self.terminal, self.random):
            self.done.append(did)

    def refuse(self) -> None:
        """Refuse the bot a kind of write, or git a kind of ref."""
        if self.random.randrange(2):
            method, path = self.random.choice(REFUSABLE)
            code = self.random.choice(CODES)
            self.faults.refuse(method, path, code, SAID)
            self.done.append(f"refuse {method} {path} with {code}")
            return
        ref = self.random.choice(REFS)
        refusing = f"case $1 in {ref}) echo {SAID}; exit 1;; esac"
        put_hook(bare_of(self.terminal), "update", refusing)
        self.done.append(f"refuse {ref}")

    def lift(self) -> None:
        """Refuse nothing any more."""
        self.faults.lift()
        (bare_of(self.terminal) / "hooks/update").unlink(missing_ok=True)
        self.done.append("lift")

    def retry(self) -> None:
        """Ask for what waits again."""
        self._of_one("retry")

    def pause(self) -> None:
        """Pause a convoy."""
        self._of_one("pause")

    def resume(self) -> None:
        """Let it go on."""
        self._of_one("resume")

    def _of_one(self, word: str) -> None:
        if names := [convoy["name"] for convoy in self.status()["convoys"]]:
            self.typed(f"brat convoy {word} {self.random.choice(names)}", STATUSES)

    def look(self) -> None:
        """Look at something."""
        what = self.random.choice(
            ("queue", "doctor", "log show", "lock status", "cost")
        )
        self.typed(f"brat {what}", STATUSES)

    # --- what must hold -------------------------------------------------------------

    def facts(self, kind: str) -> list[dict[str, Any]]:
        """Return the log's events of one type, as another program reads them."""
        try:
            found = [row.fact for row in rows(bare_of(self.terminal))]
        except AssertionError:  # there is no log yet
            return []
        return [fact for fact in found if fact and fact["type"] == kind]

    def hold(self) -> None:
        """Check that the status can be read, and that nothing landed twice."""
        self.status()
        landed = [(f["convoy"], f["task"]) for f in self.facts("merge.landed")]
        assert len({*landed}) == len(landed), self.done
        assert all(fact["judged"] for fact in self.facts("merge.landed")), self.done

    def end(self) -> dict[str, object]:
        """Return what there is when all is over; runs may have been lost."""
        return {**super().end(), "runs": None}

    def whole(self) -> dict[str, object]:
        """Return what there is to be: every issue's convoy."""
        return {**super().whole(), "runs": None}

    def come_to_an_end(self) -> None:
        """Let all go well from now on: everything has to land."""
        self.lift()
        with self.up():
            self._ask_for_all()
            self.until(self._is_over, lambda: (self.done, self.end(), self.waiting()))
        for fact in self.facts("merge.landed"):
            checks = [fact["candidate"], *fact["judged"]]
            assert checks[1:] != ["none"], (self.done, fact)
        accepted = {(f["convoy"], f["task"]) for f in self.facts("work.accepted")}
        merged = {(f["convoy"], f["task"]) for f in self.facts("task.merged")}
        assert accepted == merged, self.done

    def _ask_for_all(self) -> None:
        """Set the label on each issue whose command died before that."""
        for issue in ask(self.terminal, "GET", "issues?state=all&per_page=100"):
            if "pull_request" in issue:
                continue
            number = issue["number"]
            self.issues[f"walk-{issue['title'][-1]}-{number}"] = number
            if issue["state"] == "open" and not issue["labels"]:
                labels = {"labels": ["brat"]}
                ask(self.terminal, "POST", f"issues/{number}/labels", labels)

    def _complete_issues(self) -> set[int]:
        convoys = self.status()["convoys"]
        return {one["issue"] for one in convoys if one["state"] == "complete"}

    def _is_over(self) -> bool:
        open_again(self.terminal, self._complete_issues)
        for convoy in self.status()["convoys"]:
            if convoy["state"] == "paused":
                self.terminal.type(f"brat convoy resume {convoy['name']}")
        for asked in self.status()["interventions"]:
            if asked["kind"] == "commits_beside":
                self.terminal.type(asked["commands"][0])
        for convoy in {*self.waiting()} & {*self.issues}:
            self.terminal.type(f"brat convoy retry {convoy}")
        return self.end() == self.whole()
