"""The refinery and the target: takes it in, and notes what others merged.

The target comes into a convoy's branch by a merge or by a task. A task for it starts
from that merge with git's conflict markers in it, and lands as a merge of both tips, so
that the same conflict never comes back.
"""

from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from bot.roles.bot_context import BotContext
from bot.text import merge_texts
from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.owed import AskMerge, BuildSync, LandSync, LookAgain, Reject, TakeLanded
from convoy.rules.landing import JUDGED_BY_NONE, foreign_tip, judged_by
from convoy.rules.target import (
    AskForge,
    AttemptSync,
    FailSync,
    LandSync as Land,
    NoteLanded,
)
from convoy.text import inert


def build_sync(context: BotContext, draft: Draft, action: BuildSync) -> None:
    """Merge the target into the convoy's branch, as a candidate; blocking.

    What has nothing of its own simply becomes the target. The second try after a red
    one is a new commit, which CI judges anew.
    """
    convoy, target = draft.state.convoys[action.convoy], action.target
    tip = draft.refs[_base(convoy)]
    if foreign_tip(convoy, draft.refs):
        return
    context.mirror.ensure([target, tip])
    made = _made(context, convoy, tip, target)
    is_pushed = convoy.landing is None or convoy.landing.way == "push"
    shown = convoy.pull is not None and not is_pushed
    if made == target and convoy.settled and shown:
        return  # it holds all of the convoy: the forge will show what merged it
    if isinstance(made, Conflicted):
        fail_sync(draft, convoy, target, None, made.paths)
        return
    attempted = AttemptSync(convoy=convoy.name, candidate=made, base=tip, target=target)
    known = context.observed.checks.get(made)
    is_judged = known is not None and known.verdict in ("green", "red")
    if draft.submit(attempted) is None and convoy.settings.require_ci and not is_judged:
        queue = ids.queue_branch(ids.base_branch(convoy.name), made)
        draft.move(ids.HEADS + queue, made)


def _made(
    context: BotContext, convoy: Convoy, tip: str, target: str
) -> str | Conflicted:
    if context.composer.is_ancestor(target, tip):
        return tip
    is_again = convoy.sync.judged > 0
    if not is_again and context.composer.is_ancestor(tip, target):
        return target
    piece = Piece(
        base=convoy.base,
        work=target,
        onto=tip,
        message=inert(merge_texts.target_merge(convoy, convoy.target)),
        at=_at(convoy),
    )
    return context.composer.build("merge", piece)


def land_sync(context: BotContext, draft: Draft, action: LandSync) -> None:
    convoy = draft.state.convoys[action.convoy]
    candidate, branch = convoy.sync.candidate, _base(convoy)
    if candidate is None or draft.refs.get(branch) != candidate.base:
        return
    checks = context.observed.checks.get(candidate.commit)
    command = Land(
        convoy=convoy.name,
        candidate=candidate.commit,
        judged=judged_by(convoy.settings, checks),
    )
    if draft.submit(command) is None:
        draft.move(branch, candidate.commit)


def reject_whole(draft: Draft, action: Reject | LookAgain) -> None:
    """Try once more what CI found red with the target in it, or let an agent see."""
    convoy = draft.state.convoys[action.convoy]
    sync = convoy.sync.candidate
    is_sync = sync is not None and sync.commit == action.candidate
    target = convoy.candidate.base if convoy.candidate is not None else ""
    target = sync.work if sync is not None and is_sync else target
    lost = isinstance(action, LookAgain)
    fail_sync(draft, convoy, target, action.candidate, said=action.text, lost=lost)


def fail_sync(
    draft: Draft,
    convoy: Convoy,
    target: str,
    candidate: str | None,
    paths: tuple[str, ...] = (),
    theirs: str = "",
    *,
    said: str = "",
    lost: bool = False,
) -> None:
    """Note that the target cannot be taken in: a conflict, or CI is red or lost."""
    why = f"{merge_texts.conflicts(convoy.target, paths)}{theirs}"
    if lost and candidate is not None:
        why = merge_texts.ci_cannot_judge(candidate, said)
    elif candidate is not None:
        why = merge_texts.ci_is_red(candidate, said)
    draft.submit(
        FailSync(
            convoy=convoy.name,
            candidate=candidate,
            target=target,
            why=why,
            paths=paths,
            said=merge_texts.end_of(said),
            lost=lost,
        )
    )


def taken_by(context: BotContext, task: Task) -> str:
    """Return the commit of the target that a task's work takes in; empty: none."""
    if task.work is None or not kind_of(task.spec).takes_target_in:
        return ""
    return context.composer.target_of(task.work.base)


def unresolved_merge(
    context: BotContext, draft: Draft, convoy: Convoy, branch: str
) -> str:
    """Return what an attempt at taking a branch in starts from; blocking.

    It is the merge of both tips, with git's conflict markers where they conflict.
    """
    tip = draft.refs[_base(convoy)]
    target = draft.refs[ids.HEADS + branch]
    context.mirror.ensure([target, tip])
    piece = Piece(
        base=convoy.base,
        work=target,
        onto=tip,
        message=inert(merge_texts.target_merge(convoy, branch)),
        at=_at(convoy),
    )
    return context.composer.unresolved(piece)


def _base(convoy: Convoy) -> str:
    return ids.HEADS + ids.base_branch(convoy.name)


def _at(convoy: Convoy) -> int:
    """Return when the convoy last changed by the log, unix ms."""
    ended = (task.ended_at for task in convoy.tasks)
    return max(convoy.requested_at, convoy.sync.at, *ended, 0)


def ask_merge(context: BotContext, draft: Draft, action: AskMerge) -> None:
    """Announce that the forge is to merge the candidate, as CI judged it."""
    checks = context.observed.checks.get(action.candidate)
    convoy = draft.state.convoys[action.convoy]
    judged = judged_by(convoy.settings, checks)
    draft.submit(
        AskForge(convoy=convoy.name, candidate=action.candidate, judged=judged)
    )


def take_landed(context: BotContext, draft: Draft, action: TakeLanded) -> None:
    """Complete a convoy that the forge merged, and note whether CI judged that.

    It did if it judged the very commit, as for a merge queue, or one with its tree.
    """
    convoy = draft.state.convoys[action.convoy]
    judged = _judged(context, convoy, action.commit)
    draft.submit(NoteLanded(convoy=convoy.name, commit=action.commit, judged=judged))


def _judged(context: BotContext, convoy: Convoy, commit: str) -> tuple[str, ...]:
    """Return the checks that judged what is on the target as a commit; else none."""
    context.mirror.ensure([commit])
    if not convoy.settings.require_ci:
        return JUDGED_BY_NONE
    current = convoy.candidate.commit if convoy.candidate else ""
    for one in (commit, convoy.asked, current):
        known = context.observed.checks.get(one)
        is_green = known is not None and known.verdict == "green"
        if one and is_green and context.composer.same_tree(one, commit):
            return judged_by(convoy.settings, known)
    return ()
