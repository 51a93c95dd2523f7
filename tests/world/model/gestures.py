"""What people do by hand on the forge: close, reopen, delete, move, take labels off."""

from typing import Final

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule

from convoy.events.people_events import ResumeConvoy
from convoy.model import ids
from tests.world.model.drawn import chosen, which
from tests.world.model.forge import HEADS, Pull
from tests.world.model.steering import Steering

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
            self.saw("pull request closed")

    def moves_a_pull(self, number: int) -> None:
        pulls = [p for p in self.forge.pulls if p.state == "open" and p.base != "main"]
        if pulls:
            chosen(pulls, number).moved_to = "main"
            self.saw("base changed")

    def deletes_a_branch(self, number: int) -> None:
        refs = [HEADS + pull.head for pull in self.forge.pulls]
        tasks = [ref for ref in refs if ref in self.forge.refs and "/task-" in ref]
        if tasks:
            self.forge.person_moves(chosen(tasks, number), None)
            self.saw("branch deleted")

    def reopens_pulls(self, number: int) -> None:
        del number
        if self.reopen():
            self.saw("pull request reopened")

    def reopen(self) -> bool:
        """Undo what was done to pull requests; return whether anything was."""
        return [self._reopened(pull) for pull in self.forge.pulls].count(True) > 0

    def _reopened(self, pull: Pull) -> bool:
        """Restore the branch, reopen, and change the base back."""
        forge = self.forge
        moved, pull.moved_to = pull.moved_to, ""
        _, name, what = pull.head.split("/")
        if pull.state in ("open", "merged") or name not in forge.state.convoys:
            return bool(moved)
        if what.startswith("task-") and HEADS + pull.head not in forge.refs:
            number = int(what.removeprefix("task-"))
            task = forge.state.convoys[name].task(number)
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
            self.saw("issue closed")

    def reopens_issues(self, number: int) -> None:
        del number
        if self.forge.closed:
            self.forge.closed.clear()
            self.saw("issue reopened")

    def deletes_an_issue(self, number: int) -> None:
        if number == 1 and (live := list(self.forge.state.live())):
            self.forge.gone.add(chosen(live, number).issue)
            self.saw("issue deleted")

    def takes_a_label_off(self, number: int) -> None:
        live = [c for c in self.forge.state.live() if self.forge.labels.get(c.issue)]
        if number == 1 and live:
            issue = chosen(live, number).issue
            self.forge.labels[issue].clear()
            self.forge.unlabelled.add(issue)
            self.saw("label taken off")

    def let_go(self) -> bool:
        """Hold nothing back any more; return whether anything was."""
        live = list(self.forge.state.live())
        lost = [convoy for convoy in live if convoy.base_is == "deleted"]
        for convoy in lost:
            self.may(ResumeConvoy(convoy=convoy.name, by="ann"))
        closed = bool(self.forge.closed)
        self.forge.closed.clear()
        return bool(lost) | closed | self.reopen() | super().let_go()
