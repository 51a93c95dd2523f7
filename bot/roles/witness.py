"""The witness's side in the bot: starts attempts, fetches artifacts, notes their ends.

An attempt that makes earlier work fit what has landed since starts from the branch's
tip with that work merged in and git's conflict markers left, and is told what both
sides were for and did. What it makes is one commit on that tip: the merge with the
markers is in no history.
"""

import secrets
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from bot.forge.rest import Refused
from bot.repository.compose import Piece
from bot.repository.draft import Draft
from bot.roles import refinery, result_artifact
from bot.roles.bot_context import BotContext
from bot.roles.result_artifact import NEEDS_A_PERSON, Result
from bot.text import merge_texts, notices
from bot.text.merge_texts import DIFF_CHARS
from convoy.answers import ANSWERS
from convoy.answers.answering import Question
from convoy.events.people_events import ConvoyPaused
from convoy.events.plan_events import TaskNoted
from convoy.gate import path_list
from convoy.kinds import half_done, kind_of, unmerged
from convoy.model import ids
from convoy.model.records import Cause, Usage
from convoy.model.session_result import FOR_A_PERSON, OUTAGES
from convoy.model.state import Convoy, Task
from convoy.model.work import Attempt, Resolution, Unmerged
from convoy.owed import Begin, Collect, Pause
from convoy.rules.ending import RefuseWork
from convoy.rules.landing import open_candidates
from convoy.rules.people import BlockTask
from convoy.rules.starting import StartTask
from convoy.text import clean, inert, redacted

_TOO_LARGE: Final = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
_FOR_GOOD: Final = frozenset({HTTPStatus.GONE, _TOO_LARGE})


def begin(context: BotContext, draft: Draft, action: Begin) -> None:
    """Start the next attempt; the dispatch follows once the log holds it."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.in_session(action.task)
    session = secrets.token_hex(16)
    base, merge = action.base, ""
    resolves = None
    earlier = (task.earlier, half_done(convoy, task)) if task is not None else ()
    # An attempt may start from the merge of both tips, not from earlier work. The tips
    # are the draft's own: one of them may move in this very push.
    is_fresh = base not in {work.commit for work in earlier if work}
    if task is not None and is_fresh and kind_of(task.spec).takes_target_in:
        logged = context.mirror.state.convoys.get(convoy.name)
        if logged is None or logged.task(task.number) is None:
            return  # a refused ref of its could not be noted: the next push starts it
        branch = task.spec.takes or convoy.target
        base = merge = refinery.unresolved_merge(context, draft, convoy, branch)
    elif task is not None:
        resolves = resolution(context, convoy, task, base)
        if resolves is not None and base == resolves.tip:
            base = merge = resolves.merge
    brief = ""
    if task and (answering := ANSWERS.get(kind_of(task.spec).name)):
        question = Question(
            state=draft.state,
            convoy=convoy,
            task=task,
            session=session,
            repository=context.commits,
        )
        brief = answering.told(question)
    refused = draft.submit(
        StartTask(
            convoy=action.convoy,
            task=action.task,
            base=base,
            session=session,
            nonce=secrets.token_hex(8),
            now=draft.now,
            brief=brief,
            resolves=resolves,
        )
    )
    kept = merge
    if not kept and base in {each.commit for each in open_candidates(convoy)}:
        kept = base  # its branch may go at any time
    if kept:
        context.mirror.ensure([kept])
    if task is not None and kept and refused is None:  # so that the runner gets it
        draft.keep(convoy.name, task.number, task.started + 1, kept)


def pause(context: BotContext, draft: Draft, action: Pause) -> None:
    convoy = draft.state.convoys[action.convoy]
    refused = draft.submit(
        ConvoyPaused(convoy=convoy.name, by=context.login, why=action.why)
    )
    if refused is None and action.tell:
        sign = ids.sign_key("breaker", f"{convoy.name}/{draft.now}")
        text = notices.stopped_all(convoy.vouched_by or convoy.by, action.why)
        draft.say(convoy.issue, sign, text)


def note_heard(context: BotContext, draft: Draft) -> None:
    """Submit what running sessions told the feed and the log does not hold yet."""
    if context.feed is None:
        return
    for heard in context.feed.owed():
        draft.submit(heard)


async def fetch(context: BotContext, action: Collect) -> bytes | str | None:
    """Return a run's artifact, or why it has none; None: it may still come."""
    try:
        data = await context.github.runs.artifact(action.run, result_artifact.ARTIFACT)
    except Refused as refused:
        if refused.status in _FOR_GOOD:
            return refused.said if refused.status == _TOO_LARGE else str(refused)
        raise  # not the attempt's fault: its work waits until the forge hands it over
    if data is not None:
        return data
    now = context.clock()
    ended = context.memory.ended.setdefault(action.run, now)
    return LOST if now - ended >= context.settings.artifact_grace_s * 1000 else None


LOST: Final = "the session ended without a result: its machine or its witness died"


@dataclass(frozen=True)
class EndedAttempt:
    context: BotContext
    draft: Draft
    convoy: Convoy
    task: Task
    attempt: Attempt
    called_off: bool = False
    """Whether the person whose machine it is ended it: then it counts as none."""

    @property
    def session(self) -> str:
        return ids.session_name(self.convoy.name, self.task.number, self.attempt.number)

    @property
    def root(self) -> str:
        """The commit against which the attempt's whole work is measured."""
        return self.attempt.root or self.attempt.base

    @property
    def gone_on_from(self) -> str:
        """The half-done commit that the attempt started from; empty: none."""
        return self.attempt.base if self.attempt.salvaged else ""

    def turn_down(
        self, result: Result, why: str, left: str = "", *, is_large: bool = False
    ) -> None:
        """Refuse the attempt; if only a person can help, block the task at once.

        `left` is the half-done commit that the next attempt goes on from.
        """
        is_for_a_person = is_large or result.outcome in FOR_A_PERSON
        self.refuse(self._cause(result), why, result, left)
        if result.status in NEEDS_A_PERSON or is_for_a_person:
            self._block(why)

    def _cause(self, result: Result) -> Cause:
        if result.conclusion == "success" or result.refusals:
            return "refused"
        if result.outcome == "setup" or self.called_off:
            return "setup"
        return "outage" if result.outcome in OUTAGES else "failed"

    def turn_away(self, why: str) -> None:
        """End an attempt that never began; it costs none, and a person is asked."""
        why = f"The task's job did not receive a valid hand-off. {why}"
        self.refuse("setup", why)
        self._block(why)

    def _block(self, why: str) -> None:
        name, number = self.convoy.name, self.task.number
        self.draft.submit(BlockTask(convoy=name, task=number, why=fit_text(why)))

    def refuse(
        self,
        cause: Cause,
        why: str,
        result: Result | None = None,
        left: str = "",
    ) -> None:
        """End the attempt without work; its agent's notes are kept all the same."""
        if result is not None:
            self.note(result)
        self.draft.submit(
            RefuseWork(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                cause=cause,
                why=fit_text(why),
                now=self.draft.now,
                asked_s=(result and result.retry_after_s) or 0.0,
                usage=result.used if result else Usage(),
                left=left,
            )
        )

    def note(self, result: Result, own: str = "") -> None:
        """Put down what a session noted, after a note of one's own."""
        if self.task.number == 0:
            return
        self.draft.submit(
            TaskNoted(
                convoy=self.convoy.name,
                task=self.task.number,
                attempt=self.attempt.number,
                notes=(own, *result.left.notes),
                shared=result.left.shared,
            )
        )

    def keep(self, commit: str) -> str:
        """Keep a commit of the attempt for good; return the ref it is kept at."""
        name, number = self.convoy.name, self.task.number
        return self.draft.keep(name, number, self.attempt.number, commit)


def fit_text(said: str) -> str:
    """Return a session's text, cleaned and redacted for the log and later attempts."""
    return redacted(clean(said))


def resolution(
    context: BotContext, convoy: Convoy, task: Task, base: str
) -> Resolution | None:
    """Return what the next attempt makes fit; None: nothing; blocking.

    `base` is the branch's tip, or the half-done work that the attempt continues.
    """
    found, left = unmerged(convoy, task), half_done(convoy, task)
    if found is None:
        return None
    if left is None or base != left.commit:
        context.mirror.ensure([base, found.commit, found.base])
        piece = Piece(
            base=found.base,
            work=found.commit,
            onto=base,
            message=inert(merge_texts.work_merge(convoy, task)),
            at=found.at,
        )
        merge, tip = context.composer.unresolved(piece), base
    elif found.merge and left.ground == found.merge:
        merge, tip = found.merge, left.base
    else:
        return None
    return Resolution(
        attempt=found.attempt,
        merge=merge,
        tip=tip,
        told=_told(context, convoy, found, tip),
    )


def _told(context: BotContext, convoy: Convoy, found: Unmerged, tip: str) -> str:
    commits, paths = context.commits, found.paths
    fork = context.composer.base_of(found.base, tip) or found.base
    landed = commits.landed(fork, tip, paths)
    others = (
        task
        for task in convoy.tasks
        if task.landed in landed
        or (task.work is not None and {*task.work.files} & {*paths} and task.landed)
    )
    newest = sorted(others, key=lambda task: task.ended_at, reverse=True)
    return merge_texts.conflict_text(
        paths=paths,
        commits=[commits.subject(each) for each in landed],
        others=newest,
        landed=commits.diff(fork, tip, DIFF_CHARS, paths),
        own=commits.diff(found.base, found.commit, DIFF_CHARS, paths),
    )


def whole_work(ended: EndedAttempt, commit: str) -> str:
    """Return an attempt's work as one commit on the branch, if it made work fit."""
    if not ended.attempt.resolves:
        return commit
    return ended.context.composer.flattened(ended.root, commit)


def conflicts_left(ended: EndedAttempt, commit: str) -> str:
    """Return a sentence naming the files that still conflict; empty: none does."""
    merge = ended.attempt.resolves
    if kind_of(ended.task.spec).takes_target_in:
        merge = ended.root
    if not merge:
        return ""
    left = ended.context.composer.left_over(merge, commit)
    names = path_list([fit_text(path) for path in left])
    return f"Conflict markers remain in {names}." if left else ""
