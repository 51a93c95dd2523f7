"""What of a convoy lands on its target while other tasks go on."""

from typing import Final, Literal

from msgspec.structs import replace

from convoy.events.candidates import UNJUDGED
from convoy.events.fact import SHORT, ConvoyEvent, clause
from convoy.model.landed_parts import Parts
from convoy.model.state import Convoy, Moment
from convoy.model.target_sync import TargetSync

Wanted = Literal["once", "parts", "whole"]
"""What is finished lands now, or each time from now on, or only with the rest."""
_SAID: Final[dict[Wanted, str]] = {
    "once": "wants what is finished to land now",
    "parts": "wants what is finished to land while other tasks go on",
    "whole": "wants the convoy to land only as a whole",
}


class PartRequested(ConvoyEvent, frozen=True, kw_only=True, tag="part.requested"):
    """A person says when what is finished of the convoy lands."""

    how: Wanted
    """`once`: now; `parts`: each time from now on; `whole`: only with the rest."""
    by: str

    def sentence(self) -> str:
        return f"{self.by} {_SAID[self.how]}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        parts = replace(convoy.parts, asked_by="", left="", why="")
        if self.how == "once":
            return replace(convoy, parts=replace(parts, asked_by=self.by))
        settings = replace(convoy.settings, land=self.how)
        candidate = convoy.candidate if convoy.settled else None
        return replace(convoy, settings=settings, parts=parts, candidate=candidate)


class PartOffered(ConvoyEvent, frozen=True, kw_only=True, tag="part.offered"):
    """A branch of its own shows the part that the forge or a person is to merge."""

    branch: str

    def sentence(self) -> str:
        return f"What is finished is offered by the branch {self.branch}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, parts=replace(convoy.parts, branch=self.branch))


class PartFailed(ConvoyEvent, frozen=True, kw_only=True, tag="part.failed"):
    """What is finished cannot land by itself; it is tried again when there is more."""

    tip: str
    """The commit of the convoy's branch that was offered."""
    why: str

    def sentence(self) -> str:
        return f"What is finished cannot land yet: {clause(self.why)}."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        parts = replace(convoy.parts, asked_by="", left=self.tip, why=self.why)
        return replace(convoy, parts=parts, candidate=None, asked="", landing_waits="")


class PartLanded(ConvoyEvent, frozen=True, kw_only=True, tag="part.landed"):
    """The target holds what is finished of the convoy; its other tasks go on."""

    tasks: tuple[int, ...]
    """The tasks whose work came with it."""
    tip: str
    """The commit of the convoy's branch that it brought."""
    commit: str
    """The commit of the target as which it landed; a push lands the judged commit."""
    branch: str
    judged: tuple[str, ...]
    """The checks that judged it; `("none",)` where CI is not required. Empty: the forge
    or a person merged something that CI did not judge."""

    def sentence(self) -> str:
        numbers = ", ".join(map(str, self.tasks))
        judged = f"judged: {', '.join(self.judged)}" if self.judged else UNJUDGED
        what = f"Task {numbers}" if len(self.tasks) == 1 else f"Tasks {numbers}"
        return f"{what} landed on {self.branch} as {self.commit[:SHORT]} ({judged})."

    def convoy_after(self, convoy: Convoy, now: Moment) -> Convoy:
        known = convoy.parts
        parts = Parts(
            tasks=tuple(sorted({*known.tasks, *self.tasks})),
            count=known.count + 1,
            tip=self.tip,
            commit=self.commit,
        )
        sync = convoy.sync
        if self.commit == self.tip:  # the convoy's branch holds it already
            sync = TargetSync(
                target=self.tip, commit=self.tip, taken_at=now.at, at=sync.at
            )
        return replace(
            convoy,
            parts=parts,
            sync=sync,
            candidate=None,
            asked="",
            landing_waits="",
            pull=None,
        )
