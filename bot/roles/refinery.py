"""The refinery: builds candidates, moves branches, lands what CI judged green."""

from typing import Final

from bot.desk import Desk
from bot.repository.compose import Conflicted, Piece
from bot.repository.draft import Draft
from convoy import ids
from convoy.actions import (
    Align,
    Block,
    Build,
    BuildConvoy,
    Choose,
    Land,
    LandConvoy,
    Prove,
    Reject,
    Try,
)
from convoy.commands import (
    AttemptMerge,
    BlockTask,
    FailConvoy,
    FailMerge,
    LandMerge,
    MakeChoice,
    ProveRival,
    ProveTests,
)
from convoy.plan import NOT_RED
from convoy.state import Candidate, Convoy, Task, Work
from convoy.text.commit_message import inert
from convoy.text.plaintext import clean
from convoy.text.redaction import redacted

HEADS: Final = "refs/heads/"
UNJUDGED: Final = ("none",)
TEXT_CHARS: Final = 2_000
"""The end of what CI said is told to the next attempt."""


def build(desk: Desk, draft: Draft, action: Build) -> None:
    """Build the tasks' candidates, each on the one before.

    A task is blamed for a conflict only with what has really landed; behind a candidate
    that may yet turn out red it waits.
    """
    convoy = draft.state.convoys[action.convoy]
    branch = ids.base_branch(convoy.name)
    onto = action.onto
    for number in action.tasks:
        task = convoy.task(number)
        if task is None or task.work is None:
            return
        desk.mirror.ensure([task.work.commit, task.work.base])
        piece = _piece(convoy, task, task.work, onto)
        made = desk.composer.build(convoy.settings.strategy, piece)
        if isinstance(made, Conflicted):
            if onto == draft.refs.get(HEADS + branch):
                _conflict(draft, convoy, task.number, made)
                continue
            return
        _attempt(draft, convoy, number, branch, piece, made)
        onto = made


def try_out(draft: Draft, action: Try) -> None:
    """Show work to CI as it is: tests before there is code, or one of rivals."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.work is None:
        return
    commit, branch = task.work.commit, ids.base_branch(convoy.name)
    attempted = AttemptMerge(
        convoy=convoy.name,
        task=task.number,
        candidate=commit,
        base=task.work.base,
        work=commit,
    )
    if draft.submit(attempted) is None:
        draft.move(HEADS + ids.queue_branch(branch, commit), commit)


def prove(desk: Desk, draft: Draft, action: Prove) -> None:
    """Note that CI found the tests red, or a rival's work green."""
    checks = desk.observed.checks.get(action.candidate)
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is not None and task.spec.kind == "rival" and task.work is not None:
        judged = checks.names if checks and convoy.settings.require_ci else UNJUDGED
        proven = ProveRival(
            convoy=convoy.name,
            task=task.number,
            commit=action.candidate,
            judged=judged,
            lines=desk.mirror.lines(task.work.base, task.work.commit),
        )
        draft.submit(proven)
        return
    draft.submit(
        ProveTests(
            convoy=action.convoy,
            task=action.task,
            commit=action.candidate,
            judged=checks.names if checks else (),
        )
    )


def choose(draft: Draft, action: Choose) -> None:
    """Take the only rival that is left."""
    draft.submit(MakeChoice(convoy=action.convoy, task=action.task))


def build_convoy(desk: Desk, draft: Draft, action: BuildConvoy) -> None:
    """Offer the convoy's branch to the target: as it is, or merged with it."""
    convoy = draft.state.convoys[action.convoy]
    work = draft.refs[HEADS + ids.base_branch(convoy.name)]
    at = max(task.ended_at for task in convoy.tasks)
    title = f"Merge convoy {convoy.name}: {convoy.title}"
    piece = Piece(
        base=convoy.base,
        work=work,
        onto=action.onto,
        message=inert(f"{title}\n\nFor #{convoy.issue}\n"),
        at=at,
    )
    made: str | Conflicted = work
    if not desk.composer.is_ancestor(action.onto, work):
        made = desk.composer.build("merge", piece)
    if isinstance(made, Conflicted):
        _conflict(draft, convoy, 0, made)
    else:
        _attempt(draft, convoy, 0, convoy.target, piece, made)


def _piece(convoy: Convoy, task: Task, work: Work, onto: str) -> Piece:
    branch = ids.task_branch(convoy.name, task.number)
    title = task.spec.title
    if convoy.settings.strategy == "merge":
        title = f"Merge task {task.number} of {convoy.name}: {title}"
    return Piece(
        base=work.base,
        work=work.commit,
        onto=onto,
        message=inert(f"{title}\n\nBrat-Task: {branch}\n"),
        at=work.at,
    )


def _attempt(
    draft: Draft, convoy: Convoy, task: int, branch: str, piece: Piece, made: str
) -> None:
    """Note the candidate and show it to CI, unless CI has judged that very commit."""
    refused = draft.submit(
        AttemptMerge(
            convoy=convoy.name,
            task=task,
            candidate=made,
            base=piece.onto,
            work=piece.work,
        )
    )
    judged = {t.landed for t in convoy.tasks}
    if refused is None and made not in judged:
        draft.move(HEADS + ids.queue_branch(branch, made), made)


def _conflict(draft: Draft, convoy: Convoy, task: int, made: Conflicted) -> None:
    what = "what has landed meanwhile" if task else convoy.target
    _send_back(
        draft,
        FailMerge(
            convoy=convoy.name,
            task=task,
            candidate=None,
            cause="conflict",
            why=f"it conflicts with {what} in {', '.join(made.paths[:5])}",
        ),
    )


def _send_back(draft: Draft, command: FailMerge) -> None:
    """Fail a merge; the work is kept, as the next attempt takes its branch."""
    task = draft.state.convoys[command.convoy].task(command.task)
    work = task.work if task else None
    if draft.submit(command) is None and work is not None:
        draft.keep(command.convoy, command.task, work.attempt, work.commit)


def align(draft: Draft, action: Align) -> None:
    """Move the tasks' branches to their candidates; what was there is kept."""
    convoy = draft.state.convoys[action.convoy]
    for number in action.tasks:
        task = convoy.task(number)
        if task is None or task.work is None or task.candidate is None:
            continue
        draft.keep(convoy.name, number, task.work.attempt, task.work.commit)
        branch = HEADS + ids.task_branch(convoy.name, number)
        draft.move(branch, task.candidate.commit)


def land(desk: Desk, draft: Draft, action: Land) -> None:
    """Move the convoy's branch over the green front."""
    convoy = draft.state.convoys[action.convoy]
    branch = HEADS + ids.base_branch(convoy.name)
    for number in action.tasks:
        task = convoy.task(number)
        candidate = task.candidate if task else None
        if candidate is None or draft.refs.get(branch) != candidate.base:
            return
        if _land(desk, draft, convoy, number, candidate):
            draft.move(branch, candidate.commit)


def land_convoy(desk: Desk, draft: Draft, action: LandConvoy) -> None:
    """Move the target branch to the convoy's candidate."""
    convoy = draft.state.convoys[action.convoy]
    target = HEADS + convoy.target
    candidate = convoy.candidate
    if candidate is None or draft.refs.get(target) != candidate.base:
        return
    if _land(desk, draft, convoy, 0, candidate):
        draft.move(target, candidate.commit)


def _land(
    desk: Desk, draft: Draft, convoy: Convoy, task: int, candidate: Candidate
) -> bool:
    checks = desk.observed.checks.get(candidate.commit)
    judged = checks.names if checks and convoy.settings.require_ci else UNJUDGED
    command = LandMerge(
        convoy=convoy.name, task=task, candidate=candidate.commit, judged=judged
    )
    return draft.submit(command) is None


def reject(draft: Draft, action: Reject) -> None:
    """Send the task back with what CI said; a red convoy is given up."""
    said = redacted(clean(action.text))
    if action.text == NOT_RED:
        _send_back(
            draft,
            FailMerge(
                convoy=action.convoy,
                task=action.task,
                candidate=action.candidate,
                cause="changes",
                why=said,
            ),
        )
        return
    _send_back(
        draft,
        FailMerge(
            convoy=action.convoy,
            task=action.task,
            candidate=action.candidate,
            cause="red",
            why=f"CI is red on {action.candidate[:10]}: {said[-TEXT_CHARS:]}",
        ),
    )


def block(draft: Draft, action: Block) -> None:
    """Wait for a person; a convoy as a whole fails, and may be asked for again."""
    if action.task:
        command = BlockTask(
            convoy=action.convoy,
            task=action.task,
            why=action.why,
            splits=action.splits,
        )
        draft.submit(command)
    else:
        draft.submit(FailConvoy(convoy=action.convoy, why=action.why))
