"""One run of the machine: the forge, its bots, and what every rule needs of them."""

from collections.abc import Iterable
from itertools import count

from hypothesis.stateful import RuleBasedStateMachine

from convoy.events import Command
from convoy.model import ids
from convoy.model.records import Settings
from convoy.rules.verdict import Check
from convoy.text import convoy_name
from tests.world.model.bot import Bot
from tests.world.model.forge import HEADS, MAIN, Forge
from tests.world.model.promises import Promises
from tests.world.rules import requested

INPUTS = {"best-of": {"engines": "default, docs"}}
ACTORS = (bytes(16), bytes(range(16)))


class Story(RuleBasedStateMachine):
    """A world that begins empty; the rules are in its subclasses."""

    def __init__(self) -> None:
        super().__init__()
        self.season = ""
        """What people are up to: `commands`, `deeds`, both or nothing."""
        self.forge = Forge()
        self.promises = Promises(self.forge)
        self.forge.on_fact, self.forge.on_push = (
            self.promises.fact,
            self.promises.pushed,
        )
        self.done: list[Command] = []
        """Commands that took effect and never may again."""
        self.bot = self.new_bot(ACTORS[0])
        self.rival = self.new_bot(ACTORS[1])

    def new_bot(self, actor: bytes) -> Bot:
        """Start a bot that knows what the log says and nothing else."""
        return Bot(self.forge, actor, self.done)

    def request(self, text: str, settings: Settings, pattern: str = "") -> None:
        """Ask for a convoy, for the first issue that has no live one."""
        state = self.forge.state
        busy = {convoy.issue for convoy in state.live()}
        busy |= self.forge.gone | self.forge.unlabelled
        issue = next(number for number in count(1) if number not in busy)
        name = convoy_name("convoy", issue, state.convoys)
        self.forge.tries.pop(f"label {issue}", None)  # another convoy's labels
        pattern = pattern if settings.require_ci else ""
        self.may(
            requested(
                convoy=name,
                issue=issue,
                title=name,
                text=text,
                base=self.forge.refs[MAIN],
                settings=settings,
                pattern=pattern,
                inputs=INPUTS.get(pattern, {}),
            )
        )

    def may(self, command: Command) -> None:
        """Put a person's command to the rules, which must allow it."""
        refused = self.bot.ask(command)
        assert refused is None, refused

    def push(self, ref: str, how: str) -> None:
        line = f"person:{self.forge.number()}"
        commit = self.edited(self.forge.refs[ref], line, how)
        self.forge.person_moves(ref, commit)

    # --- commits --------------------------------------------------------------------

    def bases(self) -> list[str]:
        """Return the shared branches of live convoys that are there."""
        names = [HEADS + ids.base_branch(c.name) for c in self.forge.state.live()]
        return [ref for ref in names if ref in self.forge.refs]

    def edited(self, parent: str, line: str, how: str) -> str:
        """Make a commit on `parent` with a line that says whose it is.

        Args:
            parent: a commit.
            line: found nowhere else.
            how: `good`; `clash`: in a file that others edit too; `same`: what others
                do just so; `bad`: CI will not like it; `tests`: nor this, until
                somebody edits what stands on it.
        """
        commits = self.forge.commits
        if how == "same":
            files = {**commits[parent].files, "same.py": ("same",)}
            return commits.make((parent,), files, line)
        path = "shared.py" if how == "clash" else f"{line}.py"
        made = commits.edit(parent, path, line)
        for wanted in self.unmet(commits[made].lines):
            made = commits.edit(made, path, wanted.replace("wants:", "meets:"))
        if how == "tests":
            made = commits.edit(made, f"test_{line}.py", f"wants:{line}")
        return commits.edit(made, path, f"bad:{line}") if how == "bad" else made

    # --- CI -------------------------------------------------------------------------

    def unjudged(self) -> list[str]:
        """Return the commits on queue branches that CI has not spoken on."""
        checks = self.forge.checks
        return [
            commit
            for commit in self.forge.queued()
            if all(check.status != "completed" for check in checks.get(commit, ()))
        ]

    def judge(self, commit: str, how: str) -> None:
        """Let CI tell the `truth`, be `red`, only begin (`late`) or be `stopped`."""
        lines = self.forge.commits[commit].lines
        bad = any(line.startswith("bad:") for line in lines) or self.unmet(lines)
        passed = how == "truth" and not bad
        if passed:
            self.promises.green.add(commit)
        check = Check(
            id=self.forge.number(),
            app="ci",
            name="ci",
            status="in_progress" if how == "late" else "completed",
            conclusion=_conclusion(how, passed=passed),
            is_status=how != "stopped" and commit[-1] in "02468ace",  # as some CIs do
        )
        self.forge.checks.setdefault(commit, []).append(check)

    def unmet(self, lines: Iterable[str]) -> list[str]:
        """Return the lines of tests whose code is not there."""
        known = set(lines)
        wants = sorted(line for line in known if line.startswith("wants:"))
        return [each for each in wants if each.replace("wants:", "meets:") not in known]


def _conclusion(how: str, *, passed: bool) -> str | None:
    """Return what CI says in the end; None: nothing yet."""
    said = {"late": None, "stopped": "cancelled"}
    return said.get(how, "success" if passed else "failure")
