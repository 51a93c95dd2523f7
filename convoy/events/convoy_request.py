"""How an issue becomes a convoy."""

from typing import Final

from msgspec.structs import replace

from convoy.events.command import Command, Decision, Refusal, live
from convoy.events.fact import ConvoyEvent
from convoy.events.forge_actions import ActionIntended
from convoy.events.pausing import stands_still
from convoy.model import ids
from convoy.model.change import with_convoy
from convoy.model.records import NamedIssue, Settings, TaskSpec
from convoy.model.state import Convoy, Moment, State, Task

FROZEN: Final = (
    *("strategy", "planner", "tasks", "staged", "land"),
    *("gate", "box", "approve", "approvals", "bypass"),
)
"""What a convoy keeps as it was asked for: its form, and what was to be approved."""


class ConvoyRequested(ConvoyEvent, frozen=True, kw_only=True, tag="convoy.requested"):
    """An issue was accepted; its text is frozen here."""

    issue: int
    title: str
    text: str
    by: str
    target: str
    """The branch it lands on, without refs/heads/."""
    base: str
    """The target's tip when it was accepted; convoy/<name>/base starts there."""
    settings: Settings
    pattern: str = ""
    """The template that is its plan, read from `base`; empty: none."""
    inputs: dict[str, str] = {}  # noqa: RUF012  msgspec copies it
    """The values that fill the template."""
    named: tuple[NamedIssue, ...] = ()
    """The issues that are closed when their tasks have landed."""

    def sentence(self) -> str:
        return f"{self.by} asked for convoy {self.convoy} in issue #{self.issue}."

    def change(self, state: State) -> State:
        convoy = Convoy(
            name=self.convoy,
            issue=self.issue,
            title=self.title,
            text=self.text,
            by=self.by,
            target=self.target,
            base=self.base,
            settings=self.settings,
            pattern=self.pattern,
            inputs=self.inputs,
            named=self.named,
            requested_at=state.moment.at,
            mayor=self._mayor(),
        )
        return with_convoy(state, convoy)

    def _mayor(self) -> Task | None:
        """Return task 0 if an engine is to plan, else None."""
        name = self.settings.planner
        if not name:
            return None
        told = f"{self.title}\n\n{self.text}".strip()
        spec = TaskSpec(number=0, title="Plan the work", instructions=told, engine=name)
        return Task(spec=spec)


class RequestConvoy(Command, frozen=True, kw_only=True):
    """Accept an issue; the asker's right was checked by the shell."""

    convoy: str
    issue: int
    title: str
    text: str
    by: str
    target: str
    base: str
    settings: Settings
    pattern: str = ""
    """The template that is its plan; the shell has checked that it compiles."""
    inputs: dict[str, str] = {}  # noqa: RUF012  msgspec copies it
    named: tuple[NamedIssue, ...] = ()

    def decide(self, state: State) -> Decision:
        """Accept an issue, and announce the comment that shows it."""
        if self.convoy in state.convoys:
            return Refusal(f"a convoy {self.convoy} exists already")
        if refused := stands_still(state):
            return refused
        for convoy in state.live():
            if convoy.issue == self.issue:
                return Refusal(
                    f"convoy {convoy.name} of issue #{self.issue} is not finished"
                )
        return (
            ConvoyRequested(
                convoy=self.convoy,
                issue=self.issue,
                title=self.title,
                text=self.text,
                by=self.by,
                target=self.target,
                base=self.base,
                settings=self.settings,
                pattern=self.pattern,
                inputs=self.inputs,
                named=self.named,
            ),
            ActionIntended(
                key=ids.comment_key(self.convoy), kind="comment", convoy=self.convoy
            ),
        )


class SettingsTaken(ConvoyEvent, frozen=True, kw_only=True, tag="settings.taken"):
    """A changed configuration counts for a convoy that is under way."""

    settings: Settings

    def sentence(self) -> str:
        return "The configuration has changed; what starts from now on goes by it."

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, settings=self.settings)


class TakeSettings(Command, frozen=True, kw_only=True):
    """The configuration is another one now; what is frozen stays as it was."""

    convoy: str
    settings: Settings

    def decide(self, state: State) -> Decision:
        """Take over all but what is frozen; an engine that is gone stays known."""
        convoy = live(state, self.convoy)
        if isinstance(convoy, Refusal):
            return convoy
        now, old = self.settings, convoy.settings
        kept = {name: getattr(old, name) for name in FROZEN}
        taken = replace(now, engines={**old.engines, **now.engines}, **kept)
        if taken == old:
            return Refusal(f"{convoy.name} goes by this configuration already")
        return (SettingsTaken(convoy=convoy.name, settings=taken),)
