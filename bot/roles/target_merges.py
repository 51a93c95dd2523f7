"""The refinery takes the target into convoys' branches, by a merge or by a task.

A task for it starts from that merge with git's conflict markers in it, and lands as a
merge of both tips, so that the same conflict never comes back.
"""

from bot.context.bot_context import BotContext
from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from bot.text import merge_texts
from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.state import Convoy, Task
from convoy.owed import Block, BuildSync, LandSync, LookAgain, Reject
from convoy.rules.landing import judged_by
from convoy.rules.target import AttemptSync, FailSync, LandSync as Land, StallLanding
from convoy.text import inert


def build_sync(context: BotContext, draft: Draft, action: BuildSync) -> None:
    """Merge the target into the convoy's branch, as a candidate; blocking.

    What has nothing of its own simply becomes the target. The second try after a red
    one is a new commit, which CI judges anew.
    """
    convoy, target = draft.state.convoys[action.convoy], action.target
    tip = draft.refs[_base(convoy)]
    context.mirror.ensure([target, tip])
    made = _made(context, convoy, tip, target)
    shown = convoy.pull is not None and _is_merged_by_forge(convoy)
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


def _is_merged_by_forge(convoy: Convoy) -> bool:
    return convoy.landing is not None and convoy.landing.way != "push"


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
        work=_with_parts(context, convoy, target),
        onto=tip,
        message=inert(merge_texts.target_merge(convoy)),
        at=_at(convoy),
        mergers=convoy.settings.merge,
    )
    return context.composer.build("merge", piece)


def _with_parts(context: BotContext, convoy: Convoy, target: str) -> str:
    """Return the target as a commit that knows what of the convoy it holds.

    A forge's squash of a part has no history in common with the convoy's branch: git
    would find in it, once more, the changes that the branch has made already.
    """
    tip, commit = convoy.parts.tip, convoy.parts.commit
    current, composer = convoy.candidate, context.composer
    if current and convoy.parts.branch and composer.same_tree(target, current.commit):
        tip, commit = current.work, target  # merged, and not seen yet as merged
    if not tip or composer.is_ancestor(tip, target):
        return target
    if not composer.is_ancestor(commit, target):
        return target
    message = inert(merge_texts.part_merge(convoy))
    return composer.joined(target, tip, message, _at(convoy))


def land_sync(context: BotContext, draft: Draft, action: LandSync) -> None:
    """Move the convoy's branch to the candidate that takes the target in."""
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
    target = sync.work if sync is not None and is_sync else _own_target(convoy)
    lost = isinstance(action, LookAgain)
    fail_sync(draft, convoy, target, action.candidate, said=action.text, lost=lost)


def _own_target(convoy: Convoy) -> str:
    return convoy.candidate.base if convoy.candidate is not None else ""


def fail_sync(  # noqa: PLR0913  each is a fact of the failure
    draft: Draft,
    convoy: Convoy,
    target: str,
    candidate: str | None,
    paths: tuple[str, ...] = (),
    said: str = "",
    *,
    lost: bool = False,
) -> None:
    """Note that the target cannot be taken in: a conflict, or CI is red or lost."""
    why = merge_texts.conflicts(convoy.target, paths)
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


def stall(draft: Draft, action: Block) -> None:
    """Let the convoy's landing wait for a person: CI never reported."""
    draft.submit(StallLanding(convoy=action.convoy, why=action.why))


def taken_by(context: BotContext, task: Task) -> str:
    """Return the commit of the target that a task's work takes in; empty: none."""
    if task.work is None or not kind_of(task.spec).takes_target_in:
        return ""
    return context.composer.target_of(task.work.base)


def unresolved(context: BotContext, draft: Draft, convoy: Convoy) -> str:
    """Return what an attempt at taking the target in starts from; blocking.

    It is the merge of both tips, with git's conflict markers where they conflict.
    """
    tip = draft.refs[_base(convoy)]
    target = draft.refs[ids.HEADS + convoy.target]
    context.mirror.ensure([target, tip])
    piece = Piece(
        base=convoy.base,
        work=_with_parts(context, convoy, target),
        onto=tip,
        message=inert(merge_texts.target_merge(convoy)),
        at=_at(convoy),
    )
    return context.composer.unresolved(piece)


def _base(convoy: Convoy) -> str:
    return ids.HEADS + ids.base_branch(convoy.name)


def _at(convoy: Convoy) -> int:
    """Return when the convoy last changed by the log, unix ms."""
    ended = (task.ended_at for task in convoy.tasks)
    return max(convoy.requested_at, convoy.sync.at, *ended, 0)
