"""What people do: ask, pause, drop, retry, cancel, lock, push, merge and delete."""

from contextlib import suppress
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.forge.rest import Refused
from bot.repository.compose import Conflicted
from convoy.events.hold_events import TakePush
from convoy.events.leases import FreeLease, TakeLease
from convoy.events.people_events import PauseConvoy, ResumeConvoy
from convoy.model.records import Settings
from convoy.model.state import Convoy, Task
from convoy.model.work import TargetRules
from convoy.rules.people import DropTask, FailConvoy, RetryConvoy, RetryTask
from tests.world.model.drawn import chosen, configurations, patterns, plans, which
from tests.world.model.forge import HEADS, LOST, MAIN
from tests.world.model.story import Story

RESOURCES: Final = ("path:src/", "path:src/a.py", "port:80", "repo:global")
CONVOYS: Final = 4
DROPPED: Final = ("needs-review", "running", "blocked", "queued")
COMMANDS: Final = ("pauses_or_resumes", "cancels", "cancels", "locks", "unlocks")
DEEDS: Final = (
    *("pushes_to_a_base", "pushes_to_the_target", "pushes_to_the_target"),
    "answers_for_a_push",
    *("merges_by_hand", "merges_by_hand", "deletes_a_base", "deletes_a_run"),
    *("changes_the_rules", "changes_the_rules", "approves", "lets_the_queue_go_on"),
)
RULES: Final = (
    TargetRules(),
    TargetRules(pull_request=True),
    TargetRules(reviews=1, pull_request=True),
    TargetRules(linear=True),
    TargetRules(queue=True),
)


class People(Story):
    """Rules of people with a command, a keyboard or a mouse."""

    @rule(text=plans(), settings=configurations, pattern=patterns)
    @precondition(lambda self: len(self.forge.state.convoys) < CONVOYS)
    def another_convoy_is_asked_for(
        self, text: str, settings: Settings, pattern: str
    ) -> None:
        self.request(text, settings, pattern)

    @rule(what=st.sampled_from(COMMANDS), number=which)
    @precondition(lambda self: "commands" in self.season)
    def somebody_commands(self, what: str, number: int) -> None:
        getattr(self, what)(number)

    @rule(what=st.sampled_from(DEEDS), number=which)
    @precondition(lambda self: "deeds" in self.season)
    def somebody_does_it_by_hand(self, what: str, number: int) -> None:
        getattr(self, what)(number)

    @rule(number=which)
    @precondition(lambda self: any(c.candidate for c in self.forge.state.live()))
    def the_target_moves_before_a_convoy_lands(self, number: int) -> None:
        self.pushes_to_the_target(number)

    # --- commands -------------------------------------------------------------------

    def pauses_or_resumes(self, number: int) -> None:
        live = list(self.forge.state.live())
        paused = [convoy for convoy in live if convoy.state == "paused"]
        active = [convoy for convoy in live if convoy.state == "active"]
        if convoys := active if number % 2 else paused or active:
            convoy = chosen(convoys, number)
            command = PauseConvoy if convoy.state == "active" else ResumeConvoy
            self.may(command(convoy=convoy.name, by="ann"))
            self.saw("pause" if convoy.state == "active" else "resume")

    @rule(number=which, state=st.sampled_from(DROPPED))
    @precondition(lambda self: "commands" in self.season and self.tasks(*DROPPED))
    def somebody_drops(self, number: int, state: str) -> None:
        convoy, task = chosen(self.tasks(state) or self.tasks(*DROPPED), number)
        drop = DropTask(convoy=convoy.name, task=task.number, why="not wanted")
        if self.bot.ask(drop) is None:
            self.saw(f"drop of {task.state}")

    @rule(number=which)
    @precondition(lambda self: "commands" in self.season and self.tasks("blocked"))
    def somebody_retries(self, number: int) -> None:
        convoy, task = chosen(self.tasks("blocked"), number)
        retry = RetryTask(convoy=convoy.name, task=task.number, by="ann")
        if self.bot.ask(retry) is None:
            self.saw("retry of work" if task.work else "retry")

    def cancels(self, number: int) -> None:
        live = list(self.forge.state.live())
        merging = [c for c in live if any(task.candidate for task in c.tasks)]
        if not live or (number > 1 and not merging):
            return
        convoy = chosen(merging or live, number)
        self.saw("cancel with candidates" if merging else "cancel")
        self.may(FailConvoy(convoy=convoy.name, why="cancelled"))

    @rule(number=which)
    @precondition(lambda self: "commands" in self.season and self.failed())
    def somebody_takes_a_failed_convoy_up(self, number: int) -> None:
        convoy = chosen(self.failed(), number)
        retry = RetryConvoy(convoy=convoy.name, by="ann")
        if self.bot.ask(retry) is None:
            self.saw("failed convoy taken up")

    def failed(self) -> list[Convoy]:
        """Return the convoys that failed."""
        found = self.forge.state.convoys.values()
        return [convoy for convoy in found if convoy.state == "failed"]

    def locks(self, number: int) -> None:
        lock = TakeLease(
            resource=chosen(RESOURCES, number),
            holder="ann",
            nonce=self.forge.fresh_id(8),
            now=self.forge.now,
            ttl_s=60 if number % 2 else 3_600,
        )
        self.saw("lock" if self.bot.ask(lock) is None else "lock refused")

    def unlocks(self, number: int) -> None:
        leases = [x for x in self.forge.state.leases.values() if x.holder == "ann"]
        if leases:
            lease = chosen(leases, number)
            self.may(
                FreeLease(resource=lease.resource, holder="ann", nonce=lease.nonce)
            )

    def tasks(self, *states: str) -> list[tuple[Convoy, Task]]:
        """Return the tasks of live convoys that are in one of these states."""
        live = self.forge.state.live()
        return [(c, task) for c in live for task in c.tasks if task.state in states]

    # --- git ------------------------------------------------------------------------

    def pushes_to_a_base(self, number: int) -> None:
        if bases := self.bases():
            self.push(chosen(bases, number), chosen(("good", "clash", "bad"), number))
            self.saw("push to a base")

    def answers_for_a_push(self, _number: int) -> None:
        for convoy in self.forge.state.live():
            if (pushed := convoy.pushed) is not None:
                self.may(TakePush(convoy=convoy.name, commit=pushed.commit, by="ann"))
                self.saw("push taken in")

    def pushes_to_the_target(self, number: int) -> None:
        self.push(MAIN, chosen(("good", "clash", "bad"), number))
        self.saw("push to the target")

    def changes_the_rules(self, number: int) -> None:
        self.forge.rules = chosen(RULES, number)
        self.saw("rules of the target")

    def approves(self, _number: int) -> None:
        for pull in self.forge.pulls:
            pull.approved = True

    def lets_the_queue_go_on(self, number: int) -> None:
        """Let the forge's queue merge its first pull request, or take it out."""
        queue = self.forge.merge_queue
        if not queue:
            return
        first = queue.pop(0)
        pull = next(pull for pull in self.forge.pulls if pull.number == first)
        if number % 2 and pull.state == "open":
            with suppress(Refused):
                self.forge.merge(pull, squash=False)
                self.saw("merged by the queue")

    def merges_by_hand(self, number: int) -> None:
        forge = self.forge
        pulls = [
            pull
            for pull in forge.pulls
            if pull.state == "open"
            and {HEADS + pull.base, HEADS + pull.head} <= forge.refs.keys()
        ]
        if not pulls:
            return
        pull = chosen(pulls, number)
        head, base = forge.refs[HEADS + pull.head], forge.refs[HEADS + pull.base]
        fork = forge.commits.fork_of(head, base)
        assert fork is not None
        made = forge.commits.merged(fork, base, head)
        if not isinstance(made, Conflicted):
            self.saw("merge by hand")
            self.promises.by_hand |= forge.commits[head].lines
            merge = forge.commits.make((base, head), made)
            forge.person_moves(HEADS + pull.base, merge)

    def deletes_a_base(self, number: int) -> None:
        if bases := self.bases():
            self.saw("base deleted")
            self.forge.person_moves(chosen(bases, number), None)

    def deletes_a_run(self, number: int) -> None:
        if runs := [run for run in self.forge.runs.values() if not run.deleted]:
            run = chosen(runs, number)
            run.deleted = run.completed = True
            run.result = LOST
            self.saw("run deleted")
