"""The witness lets an attempt make earlier work fit what has landed since.

It starts from the branch's tip with that work merged in and git's conflict markers
left, and is told what both sides were for and did. What it makes is one commit on that
tip: the merge with the markers is in no history.
"""

from typing import Final

from bot.context.bot_context import BotContext
from bot.repository.compose import Piece
from bot.roles.ended_attempt import EndedAttempt, fit
from bot.text import merge_texts
from bot.text.merge_texts import DIFF_CHARS, Sides
from convoy.gate import path_list
from convoy.kinds import half_done, kind_of, unmerged
from convoy.model.state import Convoy, Task
from convoy.model.work import Resolution, Unmerged
from convoy.text import inert

DROPPED: Final = "Lines of one side are gone from "
_SHOWN: Final = 3


def resolution(
    context: BotContext, convoy: Convoy, task: Task, base: str
) -> Resolution | None:
    """Return what the next attempt makes fit; None: nothing; blocking.

    Args:
        context: the bot's tools.
        convoy: the task's.
        task: what is to be tried.
        base: the branch's tip, or the half-done work that the attempt continues.
    """
    found, left = unmerged(convoy, task), half_done(convoy, task)
    if found is None:
        return None
    if left is None or base != left.commit:
        merge, tip = _merged(context, convoy, task, found, base), base
    elif found.merge and left.ground == found.merge:
        merge, tip = found.merge, left.base
    else:
        return None
    return Resolution(
        attempt=found.attempt,
        merge=merge,
        tip=tip,
        told=merge_texts.conflict_text(_sides(context, convoy, found, tip)),
    )


def _merged(
    context: BotContext, convoy: Convoy, task: Task, found: Unmerged, tip: str
) -> str:
    context.mirror.ensure([tip, found.commit, found.base])
    piece = Piece(
        base=found.base,
        work=found.commit,
        onto=tip,
        message=inert(merge_texts.work_merge(convoy, task)),
        at=found.at,
    )
    return context.composer.unresolved(piece)


def _sides(context: BotContext, convoy: Convoy, found: Unmerged, tip: str) -> Sides:
    commits, paths = context.commits, found.paths
    landed = commits.landed(found.base, tip, paths)
    others = (
        task
        for task in convoy.tasks
        if task.landed in landed
        or (task.work is not None and {*task.work.files} & {*paths} and task.landed)
    )
    newest = sorted(others, key=lambda task: task.ended_at, reverse=True)
    return Sides(
        paths=paths,
        commits=tuple(commits.subject(each) for each in landed),
        others=tuple(newest),
        landed=commits.diff(found.base, tip, DIFF_CHARS, paths),
        own=commits.diff(found.base, found.commit, DIFF_CHARS, paths),
    )


def whole(ended: EndedAttempt, commit: str) -> str:
    """Return an attempt's work as one commit on the branch, if it made work fit."""
    if not ended.attempt.resolves:
        return commit
    return ended.context.composer.flattened(ended.root, commit)


def unresolved(ended: EndedAttempt, commit: str) -> str:
    """Return a sentence naming the files that still conflict; empty: none does."""
    merge = ended.attempt.resolves
    if kind_of(ended.task.spec).takes_target_in:
        merge = ended.root
    if not merge:
        return ""
    left = ended.context.composer.left_over(merge, commit)
    names = path_list([fit(path) for path in left])
    return f"Conflict markers are left in {names}." if left else ""


def dropped(ended: EndedAttempt, commit: str, said: str) -> str:
    """Return a sentence on lines of a side that are gone; empty: none, or it is said.

    An agent is asked once: what it leaves out again is CI's and people's to judge.

    Args:
        ended: the attempt.
        commit: its work.
        said: its agent's report; a file that it names is accounted for.
    """
    was_asked = any(DROPPED in note for note in ended.task.notes[-1:])
    if not ended.attempt.resolves or was_asked:
        return ""
    gone = ended.context.composer.dropped(ended.attempt.resolves, commit)
    silent = [each for each in gone if each.path.rpartition("/")[2] not in said]
    if not silent:
        return ""
    lines = "; ".join(f"`{fit(line)}`" for line in silent[0].lines[:_SHOWN])
    names = path_list([fit(each.path) for each in silent])
    return (
        f"{DROPPED}{names}, such as {lines}: keep what both sides meant; where lines "
        "have to go, name the file after `BRAT: done` and say why."
    )
