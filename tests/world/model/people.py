"""What people do by hand on the forge: close, reopen, delete, move, take labels off."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.forge.rest import Refused
from bot.repository.compose import Conflicted, Piece
from convoy.events import Command, people_events
from convoy.events.hold_events import (
    BranchTaken,
    MergeRequested,
    MergeWithdrawn,
    WorkHeld,
    WorkReleased,
)
from convoy.events.leases import FreeLease, TakeLease
from convoy.events.plan_events import ConvoyRanked
from convoy.events.task_events import ConvoyFailed
from convoy.model import ids
from convoy.model.records import Kind, Settings, TaskSpec
from convoy.model.state import Convoy, Task
from convoy.model.work import TargetRules, Work
from convoy.rules.people import DropTask, RebaseWork, RetryConvoy
from convoy.rules.plans import AddTask, AssignTask, LinkTask
from convoy.rules.retries import RetryTask, ReviseTask
from tests.world.model.bots import chosen, configurations, patterns, plans, which
from tests.world.model.forge import HEADS, LOST, MAIN, Pull
from tests.world.model.story import Story

RESOURCES: Final = ("path:src/", "path:src/a.py", "port:80", "repo:global")
CONVOYS: Final = 4
DROPPED: Final = ("needs-review", "running", "blocked", "queued")
COMMANDS: Final = ("pauses_or_resumes", "cancels", "cancels", "locks", "unlocks")
DEEDS: Final = (
    *("pushes_to_a_base", "pushes_to_the_target", "pushes_to_the_target"),
    *("pushes_to_a_task", "answers_for_a_push"),
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
            command = (
                people_events.ConvoyPaused
                if convoy.state == "active"
                else people_events.ConvoyResumed
            )
            self.may(command(convoy=convoy.name, by="ann"))

    @rule(number=which, state=st.sampled_from(DROPPED))
    @precondition(lambda self: "commands" in self.season and self.tasks(*DROPPED))
    def somebody_drops(self, number: int, state: str) -> None:
        convoy, task = chosen(self.tasks(state) or self.tasks(*DROPPED), number)
        drop = DropTask(convoy=convoy.name, task=task.number, why="not wanted")
        self.bot.ask(drop)

    @rule(number=which)
    @precondition(lambda self: "commands" in self.season and self.tasks("blocked"))
    def somebody_retries(self, number: int) -> None:
        convoy, task = chosen(self.tasks("blocked"), number)
        retry = RetryTask(convoy=convoy.name, task=task.number, by="ann")
        self.bot.ask(retry)

    def cancels(self, number: int) -> None:
        live = list(self.forge.state.live())
        merging = [c for c in live if any(task.candidate for task in c.tasks)]
        if not live or (number > 1 and not merging):
            return
        convoy = chosen(merging or live, number)
        self.may(ConvoyFailed(convoy=convoy.name, why="cancelled"))

    @rule(number=which)
    @precondition(lambda self: "commands" in self.season and self.failed())
    def somebody_takes_a_failed_convoy_up(self, number: int) -> None:
        convoy = chosen(self.failed(), number)
        retry = RetryConvoy(convoy=convoy.name, by="ann")
        if self.bot.ask(retry) is None:
            self.forge.tries.pop(f"label {convoy.issue}", None)  # another convoy's

    def failed(self) -> list[Convoy]:
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
        self.bot.ask(lock)

    def unlocks(self, number: int) -> None:
        leases = [x for x in self.forge.state.leases.values() if x.holder == "ann"]
        if leases:
            lease = chosen(leases, number)
            self.may(
                FreeLease(resource=lease.resource, holder="ann", nonce=lease.nonce)
            )

    def tasks(self, *states: str) -> list[tuple[Convoy, Task]]:
        live = self.forge.state.live()
        return [(c, task) for c in live for task in c.tasks if task.state in states]

    # --- git ------------------------------------------------------------------------

    def pushes_to_a_base(self, number: int) -> None:
        if bases := self.bases():
            self.push(chosen(bases, number), chosen(("good", "clash", "bad"), number))

    def pushes_to_a_task(self, number: int) -> None:
        shown = [
            ref
            for convoy, task in self.tasks("needs-review", "running", "blocked")
            if (ref := HEADS + ids.task_branch(convoy.name, task.number))
            in self.forge.refs
        ]
        if shown:
            self.push(chosen(shown, number), chosen(("good", "clash", "bad"), number))

    def answers_for_a_push(self, _number: int) -> None:
        for convoy in self.forge.state.live():
            parts = [(0, convoy.pushed)]
            parts += [
                (task.number, task.pushed)
                for task in convoy.tasks
                if task.state == "needs-review"
            ]
            for task, pushed in parts:
                if pushed is not None:
                    name, commit = convoy.name, pushed.commit
                    self.may(
                        BranchTaken(convoy=name, task=task, commit=commit, by="ann")
                    )

    def pushes_to_the_target(self, number: int) -> None:
        self.push(MAIN, chosen(("good", "clash", "bad"), number))

    def changes_the_rules(self, number: int) -> None:
        self.forge.rules = chosen(RULES, number)

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
            self.promises.by_hand |= forge.commits[head].lines
            merge = forge.commits.make((base, head), made)
            forge.person_moves(HEADS + pull.base, merge)

    def deletes_a_base(self, number: int) -> None:
        if bases := self.bases():
            self.forge.person_moves(chosen(bases, number), None)

    def deletes_a_run(self, number: int) -> None:
        if runs := [run for run in self.forge.runs.values() if not run.deleted]:
            run = chosen(runs, number)
            run.deleted = run.completed = True
            run.result = LOST


BY, ALSO = "bea", "cho"
"""Not who asks for convoys: nobody approves what is done for them."""
HOLD: Final = "brat:hold"


def _added(convoy: Convoy, task: Task, number: int) -> Command:
    new = max(each.number for each in convoy.tasks) + 1
    after = (task.number,) if number % 2 else ()
    kind: Kind = chosen(("work", "report", "scout"), number // 2)
    spec = TaskSpec(
        number=new, title="One more", instructions="It.", after=after, kind=kind
    )
    return AddTask(convoy=convoy.name, spec=spec, by=BY)


ORDERS: Final[dict[str, Callable[[Convoy, Task, int], Command]]] = {
    "add": _added,
    "assign": lambda c, t, n: AssignTask(
        convoy=c.name, task=t.number if n % 2 else None, engine="docs", by=BY
    ),
    "hold": lambda c, t, n: WorkHeld(
        convoy=c.name, task=n % 2 and t.number, label=HOLD
    ),
    "link": lambda c, t, n: LinkTask(
        convoy=c.name, task=t.number, on=chosen(c.tasks, n // 2).number, by=BY
    ),
    "rank": lambda c, _, n: ConvoyRanked(convoy=c.name, priority=n % 3, by=BY),
    "release": lambda c, t, n: WorkReleased(convoy=c.name, task=n % 2 and t.number),
    "tell": lambda c, t, _: people_events.TaskTold(
        convoy=c.name, task=t.number, by=BY, text="Well."
    ),
    "withdraw": lambda c, t, n: MergeWithdrawn(
        convoy=c.name, task=n % 2 and t.number, by=BY
    ),
}


class Steering(People):
    """Rules of what people change while it is carried out."""

    @rule(what=st.sampled_from(sorted(ORDERS)), number=which)
    @precondition(lambda self: "commands" in self.season)
    def somebody_steers(self, what: str, number: int) -> None:
        if convoys := [c for c in self.forge.state.live() if c.tasks]:
            convoy = chosen(convoys, number)
            command = ORDERS[what](convoy, chosen(convoy.tasks, number), number)
            self.bot.ask(command)

    @rule(number=which)
    @precondition(lambda self: self.tasks("queued", "running", "needs-review"))
    def work_is_to_be_reviewed(self, number: int) -> None:
        found = self.tasks("queued", "running", "needs-review")
        convoy, task = chosen(found, number)
        if any(each.spec.kind == "review" for each in convoy.tasks):
            return
        spec = TaskSpec(
            number=max(each.number for each in convoy.tasks) + 1,
            title="Review",
            instructions="It.",
            kind="review",
            on=(task.number,),
            rounds=number % 2,
        )
        self.bot.ask(AddTask(convoy=convoy.name, spec=spec, by=BY))

    @rule(number=which)
    @precondition(lambda self: "commands" in self.season and self.tasks("needs-review"))
    def somebody_wants_work_changed(self, number: int) -> None:
        convoy, task = chosen(self.tasks("needs-review"), number)
        assert task.work is not None
        kept = ids.attempt_ref(convoy.name, task.number, task.work.attempt)
        moves = {kept: task.work.commit}
        command: Command | None = ReviseTask(
            convoy=convoy.name, task=task.number, by=BY, text="Not so."
        )
        if number % 2:
            command = self._rebased(convoy, task, task.work)
        if isinstance(command, RebaseWork):
            moves[HEADS + ids.task_branch(convoy.name, task.number)] = command.commit
        if command:
            self.bot.ask(command, moves)

    def _rebased(self, convoy: Convoy, task: Task, work: Work) -> Command | None:
        onto = self.forge.refs.get(HEADS + ids.base_branch(convoy.name), work.base)
        piece = Piece(base=work.base, work=work.commit, onto=onto, message="", at=0)
        made = self.bot.context.composer.build("rebase", piece)
        if isinstance(made, Conflicted):
            return None
        return RebaseWork(
            convoy=convoy.name,
            task=task.number,
            old=work.commit,
            commit=made,
            base=onto,
            by=BY,
        )

    @rule(by=st.sampled_from([BY, ALSO]))
    def everything_stops_and_goes_on(self, by: str) -> None:
        self.may(people_events.RepositoryPaused(by=by))
        self.bot.tick()
        self.may(people_events.RepositoryResumed(by=by))

    @rule(by=st.sampled_from([BY, ALSO]))
    def everything_is_approved(self, by: str) -> None:
        for command in list(self._approvals(by)):
            self.bot.ask(command)

    def approved(self) -> list[people_events.ApprovalVoided]:
        return [
            people_events.ApprovalVoided(
                convoy=convoy.name, task=task.number, by=by, why="left"
            )
            for convoy, task in self.tasks("needs-review")
            for by in task.approved_by
        ]

    @rule(number=which)
    @precondition(lambda self: self.approved())
    def an_approval_is_voided(self, number: int) -> None:
        self.may(chosen(self.approved(), number))

    def _approvals(self, by: str) -> Iterator[Command]:
        for convoy in self.forge.state.live():
            if convoy.state == "planning":
                yield people_events.ApprovePlan(convoy=convoy.name, by=by)
            for task in convoy.tasks:
                if task.work and convoy.settings.approvals:
                    yield people_events.TaskApproved(
                        convoy=convoy.name,
                        task=task.number,
                        commit=task.work.commit,
                        by=by,
                    )

    def let_go(self) -> bool:
        """Hold nothing back any more; return whether anything was."""
        commands = [*self._approvals(BY), *self._approvals(ALSO)]
        for convoy in self.forge.state.live():
            for part in (0, *(task.number for task in convoy.tasks)):
                commands.append(WorkReleased(convoy=convoy.name, task=part))
                commands.append(MergeRequested(convoy=convoy.name, task=part, by=BY))
        return [self.bot.ask(command) for command in commands].count(None) > 0


HANDS: Final = (
    *("closes_a_pull", "reopens_pulls", "moves_a_pull", "deletes_a_branch"),
    *("closes_an_issue", "reopens_issues", "deletes_an_issue", "takes_a_label_off"),
)


class Gestures(Steering):
    """Rules of people who use the forge's own buttons."""

    @rule(what=st.sampled_from(HANDS), number=which)
    @precondition(lambda self: "deeds" in self.season)
    def somebody_uses_a_button(self, what: str, number: int) -> None:
        getattr(self, what)(number)

    # --- pull requests --------------------------------------------------------------

    def closes_a_pull(self, number: int) -> None:
        if pulls := [pull for pull in self.forge.pulls if pull.state == "open"]:
            chosen(pulls, number).state = "shut"

    def moves_a_pull(self, number: int) -> None:
        pulls = [p for p in self.forge.pulls if p.state == "open" and p.base != "main"]
        if pulls:
            chosen(pulls, number).moved_to = "main"

    def deletes_a_branch(self, number: int) -> None:
        refs = [HEADS + pull.head for pull in self.forge.pulls]
        tasks = [ref for ref in refs if ref in self.forge.refs and "/task-" in ref]
        if tasks:
            self.forge.person_moves(chosen(tasks, number), None)

    def reopens_pulls(self, _number: int = 0) -> bool:
        """Undo what was done to pull requests; return whether anything was."""
        return [self._reopened(pull) for pull in self.forge.pulls].count(True) > 0

    def _reopened(self, pull: Pull) -> bool:
        """Restore the branch, reopen, and change the base back."""
        forge = self.forge
        moved, pull.moved_to = pull.moved_to, ""
        _, name, what = pull.head.split("/")
        convoy = forge.state.convoys.get(name)
        # A landed convoy's branches go: nobody brings one back again and again.
        if convoy is None or convoy.state == "complete":
            return bool(moved)
        if pull.state in ("open", "merged"):
            return bool(moved)
        if what.startswith("task-") and HEADS + pull.head not in forge.refs:
            number = int(what.removeprefix("task-"))
            task = convoy.task(number)
            if task is not None and task.work is not None:
                ref = HEADS + ids.task_branch(name, number)
                forge.person_moves(ref, task.work.commit)
        head, base = (forge.refs.get(HEADS + each) for each in (pull.head, pull.base))
        if not head or not base or forge.commits.contains(base, head):
            return bool(moved)
        pull.state = "open"
        return True

    # --- issues ---------------------------------------------------------------------

    def closes_an_issue(self, number: int) -> None:
        if live := list(self.forge.state.live()):
            self.forge.closed.add(chosen(live, number).issue)

    def reopens_issues(self, _number: int) -> None:
        self.forge.closed.clear()

    def deletes_an_issue(self, number: int) -> None:
        if number == 1 and (live := list(self.forge.state.live())):
            self.forge.gone.add(chosen(live, number).issue)

    def takes_a_label_off(self, number: int) -> None:
        live = [c for c in self.forge.state.live() if self.forge.labels.get(c.issue)]
        if number == 1 and live:
            issue = chosen(live, number).issue
            self.forge.labels[issue].clear()
            self.forge.unlabelled.add(issue)

    def let_go(self) -> bool:
        """Hold nothing back any more; return whether anything was."""
        live = list(self.forge.state.live())
        lost = [convoy for convoy in live if convoy.base_is == "deleted"]
        for convoy in lost:
            self.may(people_events.ConvoyResumed(convoy=convoy.name, by="ann"))
        closed = bool(self.forge.closed)
        self.forge.closed.clear()
        return bool(lost) | closed | self.reopens_pulls() | super().let_go()
