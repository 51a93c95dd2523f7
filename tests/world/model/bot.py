"""The loop in miniature: observe, plan, stage, one push, effects, again.

The order of things is that of `bot/loop/loop.py`, without threads; the draft, the
mayor, the refinery, the deacon and the effects are the bot's own.
Results come without artifacts.
"""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from bot.door.inbox import ALL_PARTS, Inbox
from bot.loop import effects
from bot.loop.effects import is_shown
from bot.loop.observe import observe
from bot.loop.pushing import RefusedParts
from bot.loop.staging import PASSES, PERFORMED, owed
from bot.repository.commits import Commits
from bot.repository.draft import Draft
from bot.repository.mirror import Mirror
from bot.repository.strangers_commits import Patch
from bot.roles import by_hand
from bot.roles.bot_context import BotContext, BotDraft, alone
from bot.settings.bot_settings import ROLES, Settings
from convoy.events import Command, Refusal
from convoy.events.forge_actions import ActionDone, ItemSetAside
from convoy.events.leases import StartBot
from convoy.events.people_events import TaskTold
from convoy.events.plan_events import ConvoyRequested
from convoy.kinds import kind_of
from convoy.kinds.rivals import rivals_left
from convoy.log.record import fold
from convoy.model import ids, records
from convoy.model.records import Scope, TaskSpec
from convoy.model.state import State
from convoy.model.work import Attempt
from convoy.owed import (
    Action,
    Align,
    AskMerge,
    Collect,
    Effect,
    Land,
    LandConvoy,
    Role,
    Staged,
    item_of,
)
from convoy.patterns import Template, built_in_pattern
from convoy.planner import Survey
from convoy.rules import ending
from convoy.rules.landing import AttemptMerge, FailMerge, LandMerge, ProveWork
from convoy.rules.plans import PlanConvoy
from grite.errors import Conflict, Rejected, Unavailable
from grite.event import Event as GriteEvent
from grite.remote import RefUpdate
from tests.world.model.composer import ModelComposer
from tests.world.model.forge import HEADS, LOCK, Forge, Result
from tests.world.model.github import LOGIN, ModelGitHub, at_once

ROUNDS: Final = 120
"""More than there are in the minute for which nothing is pushed after refusals."""
LANDINGS: Final = (Align, Land, LandConvoy, AskMerge)
ONCE: Final = (
    *(ending.AcceptNothing, ending.AcceptReport, ending.AcceptWork),
    ending.AcceptReview,
    *(ProveWork, ending.MakeChoice),
    *(LandMerge, ending.LoseSession, ActionDone),
    *(PlanConvoy, ending.RefuseWork, ConvoyRequested),
    StartBot,
)
TOLD: Final = (TaskTold, ItemSetAside)
"""May be said twice; the loop tells of an item that is set aside once a draft."""
_SETTINGS: Final = Settings(
    repository="octo/app",
    api_url="http://127.0.0.1",
    git_url="http://127.0.0.1",
    token="made-up",
    secret="made-up-webhook-secret",
    folder=Path("/nowhere"),
)


class NoInbox(Inbox):
    """People ask the model's bot directly."""

    def __init__(self) -> None:
        pass


class ModelCommits(Commits):
    def __init__(self, mirror: "ModelMirror") -> None:
        super().__init__(Path("/nowhere"))
        self.forge = mirror.forge

    def scopes(self, commit: str, tasks: tuple[TaskSpec, ...]) -> tuple[Scope, ...]:
        """Nothing: there are no files here."""
        return ()

    def examined(self, base: str, commit: str, settings: records.Settings) -> Patch:
        """Return what changed: commits in memory offend no gate."""
        return Patch(files=self.forge.commits.changed(base, commit), refusals=())

    def box_labels(self, commit: str) -> frozenset[str]:
        """Nothing: commits in memory hold no issue forms."""
        return frozenset()

    def template(self, commit: str, name: str) -> Template:
        """Return one of brat's own: commits in memory hold none."""
        return built_in_pattern(name)

    def diff(
        self, base: str, commit: str, room: int, paths: tuple[str, ...] = ()
    ) -> str:
        """Return what changed: commits in memory have lines."""
        known = self.forge.commits
        return "\n".join(sorted(known[commit].lines - known[base].lines))[:room]

    def landed(self, base: str, tip: str, paths: tuple[str, ...]) -> tuple[str, ...]:
        known = self.forge.commits
        return tuple(sorted(known[tip].ancestors - known[base].ancestors))

    def subject(self, commit: str) -> str:
        """Return a commit's name: commits in memory have no messages."""
        return commit

    def surveyed(self, commit: str) -> Survey:
        """Return that nothing is known: commits in memory hold no files."""
        return Survey(files=0, folders=(), languages=())

    def lines(self, base: str, commit: str) -> int:
        known = self.forge.commits
        return len(known[commit].lines - known[base].lines)


class ModelMirror(Mirror):
    """What a bot saw last of the forge in memory."""

    def __init__(self, forge: Forge) -> None:
        self.forge = forge
        self.refs = {}
        self.default_branch = "main"
        self._state = State()
        self._folded = 0
        self.blind = False
        """Whether its looks come too late to show anything new."""
        self.look()

    @property
    def state(self) -> State:
        return self._state

    def look(self) -> None:
        if self.blind:
            return
        self.refs = dict(self.forge.refs)
        for entry in self.forge.log[self._folded :]:
            self._state = fold(self._state, entry.commit, entry.events, entry.actor)
        self._folded = len(self.forge.log)

    def push(
        self,
        events: Sequence[GriteEvent],
        updates: Mapping[str, RefUpdate],
        *,
        actor: bytes,
    ) -> None:
        """Move refs and log, all or nothing; then believe it, and see no more."""
        self.forge.push(events, updates, after=self._folded, actor=actor)
        for update in updates.values():
            if update.new is None:
                self.refs.pop(update.ref, None)
            else:
                self.refs[update.ref] = update.new
        if events:
            entry = self.forge.log[-1]
            self._state = fold(self._state, entry.commit, entry.events, actor)
            self._folded = len(self.forge.log)

    def ensure(self, commits: Sequence[str]) -> None:
        """Have them: all commits are in memory."""

    def has(self, commit: str) -> bool:
        return commit in self.forge.commits.known


class TwiceDraft(BotDraft):
    """A draft that asks for everything twice; the second time is refused."""

    def submit(self, command: Command) -> Refusal | None:
        """Decide; what was allowed must not be allowed again."""
        refused = super().submit(command)
        if refused is None:
            again = super().submit(command) if not isinstance(command, TOLD) else ""
            assert again is not None, f"twice: {command}"
        return refused

    def send(self, lease: RefUpdate) -> None:
        """Push all of it with the bot's lease; other leases' refs are not modelled."""
        updates = {**self._updates, lease.ref: lease}
        self._mirror.push(self._events, updates, actor=self.actor)


class Bot:
    """One bot process; what it knows goes with it."""

    def __init__(self, forge: Forge, actor: bytes, done: list[Command]) -> None:
        self.forge = forge
        self.mirror = ModelMirror(forge)
        self.context = BotContext(
            settings=_SETTINGS,
            github=ModelGitHub(forge),
            mirror=self.mirror,
            commits=ModelCommits(self.mirror),
            composer=ModelComposer(forge),
            inbox=NoInbox(),
            actor=actor,
            login=LOGIN,
            clock=lambda: forge.now,
        )
        self._done = done
        self._noted: list[ActionDone] = []
        self._lease_is_fresh = False
        self._looks = True
        self._refused = RefusedParts()

    def ask(self, command: Command, moves: Mapping[str, str] = {}) -> Refusal | None:
        """Put a person's command to the rules and push what it leads to.

        Args:
            command: what is asked.
            moves: refs that move with it when it is allowed.
        """
        self.mirror.look()
        draft = self._draft()
        refused = draft.submit(command)
        for ref, commit in moves.items() if refused is None else ():
            draft.move(ref, commit)
        self.forge.a_person_asks = True
        try:
            if draft:
                self._push(draft)
        except Rejected as error:
            return Refusal(str(error))
        finally:
            self.forge.a_person_asks = False
        return refused

    def tick(self, *, look: bool = True, roles: tuple[Role, ...] = ROLES) -> bool:
        """Do all that is owed; return whether anything was done.

        Args:
            look: not to look is to have looked some time ago.
            roles: whose work is done.
        """
        self.context.settings = _SETTINGS.model_copy(update={"roles": roles})
        self._lease_is_fresh, self._looks = False, look
        if look:
            self.mirror.look()
        self.mirror.blind = not look
        try:
            return self._rounds()
        except (Conflict, Unavailable):
            pass
        finally:
            self.mirror.blind = False
        self.mirror.look()
        return True

    def _rounds(self) -> bool:
        for number in range(ROUNDS):
            assert not self.forge.broken, self.forge.broken
            self.context.observed = at_once(
                observe(self.context, ALL_PARTS, self._look_again)
            )
            draft = self._draft()
            for command in self._noted:
                draft.submit(command)
            failures = self.context.troubles
            for item in [*failures.owed]:
                draft.tell(failures.owed, item)
            self._stage(draft)
            wanted = draft or self._refused.only is not None
            if wanted and not self._sent(draft):
                continue
            failures.forget(draft.told)
            self._noted.clear()
            acted = self._effects()
            if not acted and not draft and not self._refused.goes_on(self.forge.now):
                assert not self.forge.broken, self.forge.broken
                return number > 0
        raise AssertionError(f"owed without end: {owed(self.context)[:3]}")

    async def _look_again(self) -> None:
        if self._looks:
            self.mirror.look()

    def _draft(self) -> TwiceDraft:
        self.forge.now += 1_000
        draft = TwiceDraft(self.context)
        if draft.actor.hex() not in draft.state.bots:
            draft.submit(StartBot(actor=draft.actor.hex(), version="0"))
        return draft

    def _push(self, draft: TwiceDraft) -> None:
        lease = RefUpdate(LOCK, self.forge.fresh_id(), self.mirror.refs.get(LOCK))
        draft.send(lease)
        self._lease_is_fresh = True
        for command in draft.commands:
            if isinstance(command, AttemptMerge):
                self._forget_failures_of(command.candidate)
            if _is_once(command):
                self._done.append(command)

    def _forget_failures_of(self, candidate: str) -> None:
        """Let a commit fail again that is built again, which takes the same second."""
        self._done[:] = (
            command
            for command in self._done
            if not (isinstance(command, FailMerge) and command.candidate == candidate)
        )

    def _sent(self, draft: TwiceDraft) -> bool:
        """Push what is staged; return whether it arrived."""
        self._refused.check(draft.now)
        try:
            self._push(draft)
        except Rejected as error:
            for aside in self._refused.blame(draft, error):
                self.context.troubles.owed[aside.item] = aside
            return False
        self._refused.taken(draft)
        self.context.memory.fresh |= draft.intended
        return True

    # --- staging, as `bot/loop/staging.py` ------------------------------------------

    def _stage(self, draft: BotDraft) -> None:
        free = self._refused.free_at(draft.now) <= draft.now
        draft.only = self._refused.only if free else frozenset()
        done: set[Action] = set()
        for _ in range(PASSES):
            new = [
                action
                for action in owed(self.context, draft)
                if isinstance(action, Staged) and action not in done
            ]
            for action in new:
                done.add(action)
                if isinstance(action, LANDINGS) and not at_once(
                    by_hand.is_wanted(draft, action.convoy)
                ):
                    continue
                item = item_of(action)
                whole = alone(self.context, item, draft)
                with whole, draft.part(item), self.forge.watching():
                    if isinstance(action, Collect):
                        self._collect(draft, action)
                    else:
                        PERFORMED[type(action)](draft, action)
            if not new or any(isinstance(action, Align) for action in new):
                return

    def _collect(self, draft: Draft, action: Collect) -> None:
        """Take in a result, as `bot/roles/witness.py` does."""
        task = draft.state.convoys[action.convoy].task(action.task)
        attempt = task.attempt if task else None
        if attempt is None or attempt.run != action.run:
            return
        result = self.forge.runs[action.run].result
        names = (action.convoy, action.task, attempt.number)
        if result.commit:
            draft.keep(*names, result.commit)
        result = self._made_whole(attempt, result)
        if task is not None and result.how == "nothing" and not attempt.root:
            is_merge = kind_of(task.spec).takes_target_in
            result = Result("work", attempt.base) if is_merge else result
        is_work = task is not None and task.spec.kind == "work" and not task.spec.on
        if result.how == "nothing" and (attempt.root or not is_work):
            result = Result("refused")  # work was to be changed, or is not wanted
        if task is not None and result.how == "choose":
            found = rivals_left(draft.state.convoys[action.convoy], task)
            best = found[attempt.number % len(found)].number if found else 0
            result = Result("choose", on=best) if best else Result("refused")
        command = result.command(*names, base=attempt.root or attempt.base)
        if draft.submit(command) is None and isinstance(command, ending.AcceptWork):
            draft.move(HEADS + ids.task_branch(*names[:2]), command.commit)

    def _made_whole(self, attempt: Attempt, result: Result) -> Result:
        """Return earlier work that fits now, as one commit on the branch."""
        made = attempt.base if result.how == "nothing" else result.commit
        if not attempt.resolves or result.how not in ("work", "nothing"):
            return result
        return Result("work", self.context.composer.flattened(attempt.root, made))

    # --- effects --------------------------------------------------------------------

    def _effects(self) -> bool:
        wanted = [
            action
            for action in owed(self.context)
            if isinstance(action, Effect) and not is_shown(self.context, action)
        ]
        if wanted and not self._lease_is_fresh:
            self._push(self._draft())
        for effect in wanted:
            whole = alone(self.context, item_of(effect))
            with suppress(Unavailable), whole, self.forge.watching():
                noted = at_once(effects.carry_out_effect(self.context, effect))
                if noted is not None:
                    self._noted.append(noted)
        return bool(self._noted or self.context.troubles.owed)


def _is_once(command: Command) -> bool:
    """Whether it is never allowed a second time, however much later."""
    if isinstance(command, FailMerge):
        return command.candidate is not None
    if isinstance(command, ActionDone) and command.key.startswith("finish:"):
        return False  # a convoy that failed may be taken up, and end once more
    if isinstance(command, ActionDone) and command.key.startswith("pull:"):
        return command.number > 0  # taken up, it may need one that it did not before
    return isinstance(command, ONCE)
