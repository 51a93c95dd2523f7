"""The refinery: builds candidates, moves branches, lands what CI judged green.

Work that cannot land goes back to its agent, and none of it is lost. Tests before their
code, and rivals, are shown to CI by themselves.

The target comes into a convoy's branch by a merge or by a task. A task for it starts
from that merge with git's conflict markers in it, and lands as a merge of both tips, so
that the same conflict never comes back.
"""

from typing import Final

from msgspec.structs import replace

from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from bot.roles.bot_context import BotContext, BotDraft, alone
from bot.text import merge_texts
from convoy import owed
from convoy.events import copied
from convoy.events.forge_actions import ItemSetAside
from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.ids import task_item
from convoy.model.state import Convoy, Task
from convoy.model.work import Candidate, Work
from convoy.rules import landing
from convoy.rules.target import (
    AskForge,
    AttemptSync,
    FailSync,
    LandSync,
    NoteLanded,
)
from convoy.rules.turns import turns


def build_sync(draft: BotDraft, action: owed.BuildSync) -> None:
    """Merge the target into the convoy's branch, as a candidate; blocking.

    What has nothing of its own simply becomes the target. The second try after a red
    one is a new commit, which CI judges anew. What people took out of the target by
    force is not to come back.
    """
    convoy, target = draft.state.convoys[action.convoy], action.target
    tip = draft.refs[_base(convoy)]
    if landing.foreign_tip(convoy, draft.refs):
        return
    draft.bot.mirror.ensure([target, tip])
    made: str | Conflicted
    piece = _taking_in(draft, convoy, convoy.target, target, tip)
    if piece.drops:  # its own work is put on the target instead
        message = merge_texts.convoy_merge(convoy)
        piece = replace(piece, work=tip, onto=target, message=message)
        made = draft.bot.composer.build("rebase", piece)
    elif draft.bot.composer.is_ancestor(target, tip):
        made = tip
    elif not convoy.sync.judged and draft.bot.composer.is_ancestor(tip, target):
        made = target
    else:
        made = draft.bot.composer.build("merge", piece)
    shown = convoy.pull is not None and not _is_pushed(convoy)
    if made == target and convoy.settled and shown:
        return  # it holds all of the convoy: the forge will show what merged it
    if isinstance(made, Conflicted):
        paths, twins = made.paths, made.are_twins
        why = merge_texts.conflicts(convoy.target, paths, twins=twins)
        said = merge_texts.NOT_BACK.format(convoy.target) if piece.drops else ""
        _cannot_take_in(draft, convoy, target, why, made.paths, said)
        return
    attempted = AttemptSync(convoy=convoy.name, candidate=made, base=tip, target=target)
    known = draft.bot.observed.checks.get(made)
    is_judged = known is not None and known.verdict in ("green", "red")
    if draft.submit(attempted) is None and convoy.settings.require_ci and not is_judged:
        queue = ids.queue_branch(ids.base_branch(convoy.name), made)
        draft.move(ids.HEADS + queue, made)


def _is_pushed(convoy: Convoy) -> bool:
    return convoy.landing is None or convoy.landing.way == "push"


def _taking_in(
    draft: BotDraft, convoy: Convoy, branch: str, target: str, tip: str
) -> Piece:
    """Return the merge of a branch, which stands at `target`, into the convoy's own."""
    ended = (task.ended_at for task in convoy.tasks)
    held, contains = landing.target_taken_in(convoy), draft.bot.composer.is_ancestor
    drops = branch == convoy.target and not contains(held, target)
    return Piece(
        base=held,
        work=target,
        onto=tip,
        message=merge_texts.target_merge(convoy, branch),
        at=max(convoy.requested_at, convoy.sync.at, *ended, 0),
        drops=drops and contains(held, tip),
    )


def land_sync(draft: BotDraft, action: owed.LandSync) -> None:
    convoy = draft.state.convoys[action.convoy]
    candidate, branch = convoy.sync.candidate, _base(convoy)
    if candidate is None or draft.refs.get(branch) != candidate.base:
        return
    judged = _judges(draft.bot, convoy, candidate.commit)
    command = LandSync(convoy=convoy.name, candidate=candidate.commit, judged=judged)
    if draft.submit(command) is None:
        draft.move(branch, candidate.commit)


def _judges(context: BotContext, convoy: Convoy, commit: str) -> tuple[str, ...]:
    checks = context.observed.checks.get(commit)
    return landing.judged_by(convoy.settings, checks)


def _reject_whole(draft: Draft, action: owed.Reject | owed.LookAgain) -> None:
    """Try once more what CI found red with the target in it, or let an agent see."""
    convoy, candidate = draft.state.convoys[action.convoy], action.candidate
    sync = convoy.sync.candidate
    target = convoy.candidate.base if convoy.candidate is not None else ""
    if sync is not None and sync.commit == candidate:
        target = sync.work
    lost = isinstance(action, owed.LookAgain)
    why_of = merge_texts.ci_cannot_judge if lost else merge_texts.ci_is_red
    said, why = merge_texts.end_of(action.text), why_of(candidate, action.text)
    draft.submit(copied(FailSync, action, target=target, why=why, said=said, lost=lost))


def _cannot_take_in(
    draft: Draft,
    convoy: Convoy,
    target: str,
    why: str,
    paths: tuple[str, ...] = (),
    said: str = "",
) -> None:
    fail = FailSync(convoy=convoy.name, candidate=None, target=target, why=why)
    draft.submit(replace(fail, paths=paths, said=said))


def unresolved_merge(draft: BotDraft, convoy: Convoy, branch: str) -> str:
    """Return the merge of both tips, with git's conflict markers; blocking."""
    tip = draft.refs[_base(convoy)]
    target = draft.refs[ids.HEADS + branch]
    draft.bot.mirror.ensure([target, tip])
    piece = _taking_in(draft, convoy, branch, target, tip)
    return draft.bot.composer.unresolved(piece)


def _base(convoy: Convoy) -> str:
    return ids.HEADS + ids.base_branch(convoy.name)


def ask_merge(draft: BotDraft, action: owed.AskMerge) -> None:
    convoy = draft.state.convoys[action.convoy]
    judged = _judges(draft.bot, convoy, action.candidate)
    draft.submit(copied(AskForge, action, judged=judged))


def take_landed(draft: BotDraft, action: owed.TakeLanded) -> None:
    """Complete a convoy that the forge merged, and note whether CI judged that.

    It did if it judged the very commit, as for a merge queue, or one with its tree.
    """
    convoy, commit = draft.state.convoys[action.convoy], action.commit
    draft.bot.mirror.ensure([commit])
    current = convoy.candidate.commit if convoy.candidate else ""
    judged: tuple[str, ...] = ()
    if not convoy.settings.require_ci:
        judged = landing.JUDGED_BY_NONE
    for one in (commit, convoy.asked, current):
        known = draft.bot.observed.checks.get(one)
        is_green = known is not None and known.verdict == "green"
        if is_green and draft.bot.composer.same_tree(one, commit):
            judged = landing.judged_by(convoy.settings, known)
            break
    draft.submit(NoteLanded(convoy=convoy.name, commit=commit, judged=judged))


_SECOND_MS: Final = 1_000
"""Git dates commits by the second: a second more makes another commit of the same
files, which any CI judges anew."""
LISTED_CONFLICTS: Final = 100
CI_BROKEN: Final = "ci-broken"
"""The rule by which work is set aside that CI cannot judge."""


def build(draft: BotDraft, action: owed.Build) -> None:
    """Build the tasks' candidates, each on the previous one.

    A task is blamed only for a conflict with landed work; for a conflict with a mere
    candidate, which may yet turn red, it waits, and so does what lets it go first.
    """
    convoy = draft.state.convoys[action.convoy]
    branch = ids.base_branch(convoy.name)
    onto, tip = action.onto, draft.refs.get(ids.HEADS + branch)
    waiting: set[int] = set()
    for number in action.tasks:
        task = convoy.task(number)
        if task is None or task.work is None:
            return
        if any(turn.on in waiting for turn in turns(convoy).get(number, ())):
            waiting.add(number)
            continue
        item = task_item(convoy.name, number)
        if not draft.admits(item):
            return
        with alone(draft.bot, item, draft), draft.part(item):
            draft.bot.mirror.ensure([task.work.commit, task.work.base])
            piece = piece_of(convoy, task, task.work, onto)
            made: str | Conflicted
            is_empty = False
            if kind_of(task.spec).takes_target_in:
                target = draft.bot.composer.target_of(task.work.base)
                taken = task.spec.takes or convoy.target
                drops = _taking_in(draft, convoy, taken, target, onto).drops
                piece = replace(piece, target=target, drops=drops)
                made = draft.bot.composer.integrated(piece)
            else:
                strategy = convoy.settings.strategy
                is_there = draft.bot.composer.is_ancestor(piece.base, onto)
                if strategy == "merge" and not is_there:
                    strategy = "rebase"  # a merge would bring in what the branch lost
                piece = replace(piece, strategy=strategy)
                made = draft.bot.composer.build(strategy, piece)
                is_empty = isinstance(made, str) and draft.bot.composer.same_tree(
                    made, onto
                )
            if is_empty:
                if onto != tip:
                    return  # what it stands on may still turn red
                _settle_empty(draft, convoy, number, task.work, onto)
            elif not isinstance(made, Conflicted):
                _attempt(draft, convoy, number, branch, piece, made)
                onto = made
            elif (blamed := _with_landed(draft, convoy, piece, made, tip)) is None:
                waiting.add(number)
            else:
                failed = landing.FailMerge(
                    convoy=convoy.name,
                    task=number,
                    candidate=None,
                    cause="conflict",
                    why=merge_texts.conflicts(
                        "newly landed work", blamed.paths, twins=blamed.are_twins
                    ),
                    paths=blamed.paths[:LISTED_CONFLICTS],
                    only_adds=blamed.only_adds,
                )
                send_back(draft, failed)


def _with_landed(
    draft: BotDraft, convoy: Convoy, piece: Piece, made: Conflicted, tip: str | None
) -> Conflicted | None:
    """Return how work conflicts with the branch's tip; None: it may not.

    Work from a candidate that has not landed does not say what it is without that.
    """
    if piece.onto == tip:
        return made
    if tip is None or piece.target or tip == piece.base:
        return None
    if not draft.bot.composer.is_ancestor(piece.base, tip):
        return None
    found = draft.bot.composer.build(convoy.settings.strategy, replace(piece, onto=tip))
    return found if isinstance(found, Conflicted) else None


def _settle_empty(
    draft: Draft, convoy: Convoy, number: int, work: Work, tip: str
) -> None:
    """Settle work that the branch holds; its own branch at the tip closes its pull."""
    name, commit = convoy.name, work.commit
    settled = landing.SettleEmpty(convoy=name, task=number, work=commit)
    if draft.submit(settled) is None:
        draft.keep(name, number, work.attempt, commit)
        draft.move(ids.HEADS + ids.task_branch(name, number), tip)


def build_convoy(draft: BotDraft, action: owed.BuildConvoy) -> None:
    """Offer the convoy's branch to the target; what was red is another commit then."""
    convoy = draft.state.convoys[action.convoy]
    work = landing.own_tip(convoy, draft.refs)
    if work is None or landing.foreign_tip(convoy, draft.refs):
        return
    draft.bot.mirror.ensure([work, action.onto])
    held = landing.target_taken_in(convoy)
    if convoy.lands_given and not draft.bot.composer.is_ancestor(held, action.onto):
        why = merge_texts.TAKEN_OUT.format(convoy.target)
        _cannot_take_in(draft, convoy, action.onto, why)
        return
    at = max(task.ended_at for task in convoy.tasks) or convoy.requested_at
    piece = Piece(
        base=held,
        work=work,
        onto=action.onto,
        message=merge_texts.convoy_merge(convoy),
        at=at,
    )
    made: str | Conflicted = work
    is_pushed_given = convoy.lands_given is not None and _is_pushed(convoy)
    is_again = convoy.sync.judged > 0 or is_pushed_given
    if is_again or not draft.bot.composer.is_ancestor(action.onto, work):
        made = draft.bot.composer.build("merge", piece)
    is_ahead = action.onto != draft.refs.get(ids.HEADS + convoy.target)
    if isinstance(made, Conflicted) and is_ahead:
        return  # what it stands on may still turn red
    if isinstance(made, Conflicted):
        theirs = _landed_with(draft, convoy, action.onto, made.paths)
        why = f"{merge_texts.conflicts(convoy.target, made.paths)}{theirs}"
        _cannot_take_in(draft, convoy, action.onto, why, made.paths)
    else:
        _attempt(draft, convoy, 0, convoy.target, piece, made)


def _landed_with(
    draft: BotDraft, convoy: Convoy, onto: str, paths: tuple[str, ...]
) -> str:
    """Name the pull requests that brought to the target what a given one conflicts."""
    if convoy.lands_given is None:
        return ""
    contains = draft.bot.composer.is_ancestor
    commits = draft.bot.commits.landed(convoy.base, onto, paths)
    found = [
        f"#{each.pull}"
        for each in draft.state.convoys.at_hand.values()
        if each.pull
        and each.landed
        and each.target == convoy.target
        and any(
            contains(commit, each.landed) and not contains(commit, each.stood_on)
            for commit in commits
        )
    ]
    return f", landed with {' and '.join(found)}" if found else ""


def piece_of(convoy: Convoy, task: Task, work: Work, onto: str) -> Piece:
    return Piece(
        base=work.base,
        work=work.commit,
        onto=onto,
        message=merge_texts.task_landing(convoy, task, convoy.settings.strategy),
        at=work.at + _SECOND_MS * (task.doubted.judged if task.doubted else 0),
        is_again=task.doubted is not None,
    )


def _attempt(
    draft: Draft, convoy: Convoy, task: int, branch: str, piece: Piece, made: str
) -> None:
    """Note the candidate and show it to CI, unless CI has judged the same commit."""
    what = {"convoy": convoy.name, "task": task, "base": piece.onto}
    attempt = copied(landing.AttemptMerge, piece, candidate=made, **what)
    judged = {convoy.sync.commit, *(t.landed for t in convoy.tasks)}
    if draft.submit(attempt) is None and made not in judged:
        draft.move(ids.HEADS + ids.queue_branch(branch, made), made)


def align(draft: Draft, action: owed.Align) -> None:
    """Move the tasks' branches to their candidates; the replaced work is kept."""
    convoy = draft.state.convoys[action.convoy]
    for number in action.tasks:
        task = convoy.task(number)
        if task is None or task.work is None or task.candidate is None:
            continue
        item = task_item(convoy.name, number)
        if draft.admits(item):
            with draft.part(item):
                draft.keep(convoy.name, number, task.work.attempt, task.work.commit)
                branch = ids.HEADS + ids.task_branch(convoy.name, number)
                draft.move(branch, task.candidate.commit)


def create_base(draft: Draft, action: owed.CreateBase) -> None:
    draft.move(ids.HEADS + ids.base_branch(action.convoy), action.commit)


def align_convoy(draft: Draft, action: owed.AlignConvoy) -> None:
    """Move the convoy's branch to its candidate, which contains it."""
    given = draft.state.convoys[action.convoy].lands_given
    branch = given.branch if given else ids.base_branch(action.convoy)
    draft.move(ids.HEADS + branch, action.candidate)


def land(draft: BotDraft, action: owed.Land) -> None:
    convoy = draft.state.convoys[action.convoy]
    for number in action.tasks:
        task = convoy.task(number)
        candidate = task.candidate if task else None
        if not _land(draft, convoy, number, candidate, _base(convoy)):
            return


def land_convoy(draft: BotDraft, action: owed.LandConvoy) -> None:
    convoy = draft.state.convoys[action.convoy]
    _land(draft, convoy, 0, convoy.candidate, ids.HEADS + convoy.target)


def _land(
    draft: BotDraft, convoy: Convoy, task: int, candidate: Candidate | None, branch: str
) -> bool:
    """Land a candidate on the branch, if that stands where the candidate begins."""
    if candidate is None or draft.refs.get(branch) != candidate.base:
        return False
    checks = draft.bot.observed.checks.get(candidate.commit)
    command = landing.LandMerge(
        convoy=convoy.name,
        task=task,
        candidate=candidate.commit,
        judged=landing.judged_by(convoy.settings, checks),
        reporters=checks.reporters if checks else {},
        missing=checks.missing if checks else (),
    )
    if draft.submit(command) is not None:
        return False
    draft.move(branch, candidate.commit)
    return True


def reject(draft: Draft, action: owed.Reject | owed.LookAgain) -> None:
    """Let an agent see what CI found red, or CI look again at what it did not judge."""
    if not action.task:
        _reject_whole(draft, action)
    elif isinstance(action, owed.LookAgain):
        why = merge_texts.what_failed(action.text)
        draft.submit(copied(landing.DoubtMerge, action, why=why))
    else:
        cause, why = "red", merge_texts.ci_is_red(action.candidate, action.text)
        if not action.is_red:
            cause, why = "changes", action.text
        send_back(draft, copied(landing.FailMerge, action, cause=cause, why=why))


def stall(draft: BotDraft, action: owed.Stall) -> None:
    """Set work aside that CI cannot judge; the next try asks CI anew."""
    item, helps = task_item(action.convoy, action.task), merge_texts.MEND_CI
    why = merge_texts.ci_cannot_judge(action.candidate, action.text)
    draft.submit(ItemSetAside(item=item, why=why, rule=CI_BROKEN, helps=helps))
    seen = draft.bot.observed
    others = {at: it for at, it in seen.checks.items() if at != action.candidate}
    draft.bot.observed = replace(seen, checks=others)


def send_back(draft: Draft, command: landing.FailMerge) -> None:
    """Fail a merge; keep the work, because the next attempt reuses its branch."""
    task = draft.state.convoys[command.convoy].task(command.task)
    work = task.work if task else None
    if draft.submit(command) is None and work is not None:
        draft.keep(command.convoy, command.task, work.attempt, work.commit)


def try_out(draft: BotDraft, action: owed.Try) -> None:
    """Show unmerged work to CI, as another commit if CI gave no verdict on it."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    work, branch = task.work, ids.base_branch(convoy.name)
    piece = piece_of(convoy, task, work, work.base)
    made: str | Conflicted = work.commit
    if task.doubted is not None:
        draft.bot.mirror.ensure([work.commit, work.base])
        made = draft.bot.composer.build("squash", piece)
    if not isinstance(made, Conflicted):  # nothing conflicts with what it stands on
        _attempt(draft, convoy, task.number, branch, piece, made)


def prove(draft: BotDraft, action: owed.Prove) -> None:
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    shown = task.candidate.commit if task.candidate else ""
    judged = _judges(draft.bot, convoy, shown)
    lines = draft.bot.commits.lines(task.work.base, task.work.commit)
    how = {"commit": action.work, "judged": judged, "lines": lines}
    draft.submit(copied(landing.ProveWork, action, **how))
