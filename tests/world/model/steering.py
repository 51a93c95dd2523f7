"""People who steer: approve, revise, rebase, hold, add, link, assign, rank."""

from collections.abc import Callable, Iterator
from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from bot.repository.compose import Conflicted, Piece
from convoy.events import Command
from convoy.events.hold_events import HoldWork, ReleaseWork, RequestMerge, WithdrawMerge
from convoy.events.people_events import (
    ApprovePlan,
    ApproveWork,
    PauseAll,
    ResumeAll,
    TellTask,
    VoidApproval,
)
from convoy.events.plan_events import RankConvoy
from convoy.model import ids
from convoy.model.records import Kind, TaskSpec
from convoy.model.state import Convoy, Task
from convoy.model.work import Work
from convoy.rules.people import RebaseWork, ReviseTask
from convoy.rules.plan_changes import AddTask, AssignTask, LinkTask
from tests.world.model.drawn import chosen, which
from tests.world.model.forge import HEADS
from tests.world.model.people import People

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
    "hold": lambda c, t, n: HoldWork(
        convoy=c.name, task=n % 2 and t.number, label=HOLD
    ),
    "link": lambda c, t, n: LinkTask(
        convoy=c.name, task=t.number, on=chosen(c.tasks, n // 2).number, by=BY
    ),
    "rank": lambda c, _, n: RankConvoy(convoy=c.name, priority=n % 3, by=BY),
    "release": lambda c, t, n: ReleaseWork(convoy=c.name, task=n % 2 and t.number),
    "tell": lambda c, t, _: TellTask(convoy=c.name, task=t.number, by=BY, text="Well."),
    "withdraw": lambda c, t, n: WithdrawMerge(
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
            if self.bot.ask(command) is None:
                self.saw(what)

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
        if self.bot.ask(AddTask(convoy=convoy.name, spec=spec, by=BY)) is None:
            self.saw("add review")

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
        if command and self.bot.ask(command, moves) is None:
            self.saw("rebase" if isinstance(command, RebaseWork) else "revise")

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
        self.may(PauseAll(by=by))
        self.bot.tick()
        self.may(ResumeAll(by=by))
        self.saw("pause all")

    @rule(by=st.sampled_from([BY, ALSO]))
    def everything_is_approved(self, by: str) -> None:
        for command in list(self._approvals(by)):
            if self.bot.ask(command) is None:
                self.saw("approve")

    def approved(self) -> list[VoidApproval]:
        """Return what would void each approval that counts."""
        return [
            VoidApproval(convoy=convoy.name, task=task.number, by=by, why="left")
            for convoy, task in self.tasks("needs-review")
            for by in task.approved_by
        ]

    @rule(number=which)
    @precondition(lambda self: self.approved())
    def an_approval_is_voided(self, number: int) -> None:
        self.may(chosen(self.approved(), number))
        self.saw("void")

    def _approvals(self, by: str) -> Iterator[Command]:
        for convoy in self.forge.state.live():
            if convoy.state == "planning":
                yield ApprovePlan(convoy=convoy.name, by=by)
            for task in convoy.tasks:
                if task.work and convoy.settings.approvals:
                    yield ApproveWork(
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
                commands.append(ReleaseWork(convoy=convoy.name, task=part))
                commands.append(RequestMerge(convoy=convoy.name, task=part, by=BY))
        return [self.bot.ask(command) for command in commands].count(None) > 0
