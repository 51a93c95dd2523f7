"""The bot's calls to GitHub, answered by the forge in memory.

No method ever waits, so `at_once` drives the bot's own coroutines without a loop.
"""

from collections.abc import Container, Coroutine, Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar

from bot.forge import payloads
from bot.forge.branch_rules import BranchRules
from bot.forge.checks import CheckRuns, CheckView, Ci
from bot.forge.github import GitHub
from bot.forge.github_actions import TaskRuns
from bot.forge.payloads import CheckRun
from bot.forge.pulls import PullRequests
from bot.forge.rest import Refused, Rest
from convoy.events.session_events import TaskStarted
from convoy.model import ids
from convoy.model.records import Strategy
from convoy.model.work import TargetRules
from convoy.rules import observed
from convoy.rules.observed import Mergeable
from convoy.rules.verdict import Check
from tests.world.model.forge import HEADS, Forge, Pull, Run, fact_in

LOGIN = "brat[bot]"
BEGINNING = datetime(1970, 1, 1, tzinfo=UTC)
T = TypeVar("T")


def at_once(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine that waits for nothing."""
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value  # type: ignore[no-any-return]
    coroutine.close()
    raise AssertionError("it waited")


class NoCheckRuns(CheckRuns):
    """Shows no checks: they say nothing that the rules need."""

    def __init__(self) -> None:
        pass

    async def found(self, view: CheckView) -> CheckRun | None:
        return None

    async def show(self, view: CheckView, found: CheckRun | None) -> None:
        pass


class ModelRuns(TaskRuns):
    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    async def start(self, ref: str, inputs: Mapping[str, str]) -> int | None:
        """Start a run; every other one is not told its number, as on older servers."""
        forge = self.forge
        forge.write("dispatch", inputs["session"])
        started = self._hand_off(inputs)
        number = forge.number()
        forge.runs[number] = Run(inputs["session"], inputs["nonce"], started)
        forge.moment("after dispatch")
        return number if number % 2 else None

    def _hand_off(self, inputs: Mapping[str, str]) -> TaskStarted:
        """Read the one commit of the log that the runner is told to read."""
        for entry in self.forge.log:
            if entry.commit == inputs["log"]:
                for fact in map(fact_in, entry.events):
                    if isinstance(fact, TaskStarted) and fact.nonce == inputs["nonce"]:
                        return fact
        raise AssertionError(f"{inputs} name no hand-off")

    async def named(self, nonce: str) -> int | None:
        for number, run in self.forge.runs.items():
            if run.nonce == nonce and not run.deleted:
                return number
        return None

    async def listed(self, wanted: frozenset[int]) -> dict[int, observed.Run]:
        return {
            number: observed.Run(id=number, completed=self.forge.runs[number].completed)
            for number in wanted
            if not self.forge.runs[number].deleted
        }

    async def state(self, number: int) -> observed.Run:
        known = number in self.forge.runs  # else it is a run of CI
        return observed.Run(id=number, completed=True, deleted=known)

    async def cancel(self, run: int, *, force: bool = False) -> None:
        del force  # here a run ends when it is asked to
        self.forge.write("cancel", run)
        self.forge.runs[run].completed = True
        self.forge.moment("after cancel")


class ModelCi(Ci):
    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    async def runs(self, commit: str) -> tuple[payloads.Run, ...]:
        newest = (await self.checks(commit))[-1:]
        return tuple(
            payloads.Run(
                id=check.id,
                event="push",
                path="ci.yml",
                status=check.status,
                conclusion=check.conclusion,
            )
            for check in newest
        )

    async def on_queues(self, commit: str) -> tuple[int, ...]:
        return ()

    async def checks(
        self, commit: str, runs: tuple[payloads.Run, ...] | None = ()
    ) -> list[Check]:
        said = self.forge.checks.get(commit, ())
        return [check for check in said if not check.is_status]

    async def statuses(self, commit: str, pinned: Container[str] = ()) -> list[Check]:
        return [check for check in self.forge.checks.get(commit, ()) if check.is_status]


class ModelPulls(PullRequests):
    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    async def open(
        self, title: str, body: str, *, head: str, base: str, draft: bool = False
    ) -> int:
        forge = self.forge
        forge.write("pull", head)
        tip, onto = (forge.refs.get(HEADS + name) for name in (head, base))
        if tip is None or onto is None:
            raise Refused("POST pulls", 422, "head or base is not there")
        if forge.commits.contains(onto, tip):
            raise Refused("POST pulls", 422, f"No commits between {base} and {head}")
        assert self._is_wanted(head), f"{head} was given up, and is offered"
        pull = Pull(forge.number(), head, base)
        forge.pulls.append(pull)
        forge.moment("after pull")
        return pull.number

    def _is_wanted(self, head: str) -> bool:
        """Whether the task whose work a branch carries was not dropped."""
        _, name, what = head.split("/")
        if what == "base" or what.startswith("part-"):
            return True
        task = self.forge.state.convoys[name].task(int(what.removeprefix("task-")))
        return task is not None and task.state != "dropped"

    async def of(self, head: str, base: str) -> payloads.Pull | None:
        for pull in reversed(self.forge.pulls):
            if (pull.head, pull.base) == (head, base):
                return self._shown(pull)
        return None

    async def latest(self) -> dict[int, payloads.Pull]:
        return {pull.number: self._shown(pull) for pull in self.forge.pulls}

    def _shown(self, pull: Pull) -> payloads.Pull:
        head, base = (
            self.forge.refs.get(HEADS + n, "") for n in (pull.head, pull.base)
        )
        merged = pull.state == "merged"
        return payloads.Pull(
            number=pull.number,
            state="open" if pull.state == "open" else "closed",
            head=payloads.Side(ref=pull.head, sha=pull.merged_head or head),
            base=payloads.Side(ref=pull.moved_to or pull.base, sha=base),
            merged_at=BEGINNING if merged else None,
            merge_commit_sha=pull.merged_as if merged else None,
        )

    async def mergeable(self, number: int) -> Mergeable:
        pull = self._known(number)
        wanted = self.forge.rules.reviews and not pull.approved
        return Mergeable(
            head=pull.merged_head or self.forge.refs.get(HEADS + pull.head, ""),
            state="blocked" if wanted else "clean",
            merged=pull.merged_as if pull.state == "merged" else "",
            review="REVIEW_REQUIRED" if wanted else "",
            queued=number in self.forge.merge_queue,
        )

    async def merge(
        self, number: int, head: str, method: Strategy, title: str, text: str
    ) -> None:
        del title, text  # commits in memory carry no messages
        forge, pull = self.forge, self._known(number)
        forge.write("land", number)
        if forge.refs.get(HEADS + pull.head) != head:
            raise Refused("PUT merge", 409, "Head branch was modified")
        if pull.state != "open" or (await self.mergeable(number)).review:
            raise Refused("PUT merge", 405, "Pull Request is not mergeable")
        forge.merge(pull, squash=method == "squash")
        forge.moment("after land")

    async def enqueue(self, number: int, head: str) -> None:
        forge, pull = self.forge, self._known(number)
        forge.write("land", number)
        if pull.state != "open" or forge.refs.get(HEADS + pull.head) != head:
            raise Refused("POST graphql", 422, "it cannot be queued")
        forge.merge_queue.append(number)
        forge.moment("after land")

    def _known(self, number: int) -> Pull:
        return next(pull for pull in self.forge.pulls if pull.number == number)


class ModelRules(BranchRules):
    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    async def of(self, branch: str, *, bypass: bool = True) -> TargetRules:
        del branch, bypass  # there is one target, and nobody may pass its rules by
        return self.forge.rules


class ModelRest(Rest):
    """Counts the answers of the forge in memory."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge

    @property
    def answers(self) -> int:  # type: ignore[override]  # the real one counts them
        return self.forge.now  # another one at each look


class ModelGitHub(GitHub):
    """What the loop asks of GitHub, as far as the rules need it."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self.rest = ModelRest(forge)
        self.check_runs = NoCheckRuns()
        self.runs = ModelRuns(forge)
        self.ci = ModelCi(forge)
        self.pulls = ModelPulls(forge)
        self.branch_rules = ModelRules(forge)

    @property
    def _repo(self) -> str:  # type: ignore[override]  # the real one keeps it
        raise AssertionError("the bot asks GitHub for what this model does not answer")

    # --- issues ---------------------------------------------------------------------

    async def issue(self, number: int) -> payloads.Issue:
        self._find(number)
        labels = sorted(self.forge.labels.get(number, ()))
        return payloads.Issue(
            number=number,
            title="",
            state="closed" if number in self.forge.closed else "open",
            labels=tuple(payloads.Label(name=name) for name in labels),
        )

    def _find(self, number: int) -> None:
        if number in self.forge.gone:
            raise Refused(f"issue {number}", 410, "This issue was deleted")

    async def latest_issues(self) -> dict[int, payloads.Issue]:
        return {}

    async def last_labellings(
        self, number: int, labels: set[str]
    ) -> dict[str, payloads.IssueEvent]:
        if number not in self.forge.unlabelled:
            return {}
        by = payloads.Account(login="ann")
        at = datetime.fromtimestamp(self.forge.now / 1000, UTC)
        event = payloads.IssueEvent(event="unlabeled", actor=by, created_at=at)
        return {min(labels): event}

    async def relabel(self, number: int, add: set[str], remove: set[str]) -> None:
        self.forge.write("label", number)
        self._find(number)
        labels = self.forge.labels.setdefault(number, set())
        labels |= add
        labels -= remove
        self.forge.moment("after label")

    async def close_issue(self, number: int, reason: str) -> None:
        self.forge.write("finish", number)
        self.forge.moment("after finish")

    async def say(self, number: int, body: str) -> int:
        self.forge.write("comment", (number, *ids.keys_in(body)))
        self._find(number)
        comment = self.forge.number()
        self.forge.comments[comment] = (number, body)
        self.forge.moment("after comment")
        return comment

    async def said(self, number: int, key: str, author: str) -> payloads.Comment | None:
        for comment, (issue, body) in self.forge.comments.items():
            if issue == number and key in ids.keys_in(body):
                return payloads.Comment(id=comment, body=body)
        return None

    async def comment(self, comment: int) -> str | None:
        return self.forge.comments[comment][1]

    async def edit_comment(self, comment: int, body: str) -> None:
        self.forge.write("edit", comment)
        self.forge.comments[comment] = (self.forge.comments[comment][0], body)
        self.forge.moment("after edit")
