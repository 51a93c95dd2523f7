"""Takes in an attempt's artifact: the runner's word is a claim that is checked here.

The run has to be the one in the log, and the artifact well-formed. Then a change has to
pass the gate over the commits in git, and an answer is read by the task's kind. Work
that may not land is kept under refs/grite/attempts: none is ever lost.
"""

from contextlib import suppress
from functools import partial

from bot.context.bot_context import BotContext
from bot.repository.draft import Draft
from bot.roles import result_artifact
from bot.roles.ended_attempt import LOST, EndedAttempt, fit
from bot.roles.handed_change import brought, take_change, unfit
from bot.roles.recovered_work import salvaged
from bot.roles.result_artifact import ResultArtifact
from convoy.answers import ANSWERS
from convoy.answers.answering import Answering, Reply, Taken
from convoy.kinds import kind_of
from convoy.model.records import Usage
from convoy.model.session_result import priced, usage_noted
from convoy.owed import Collect
from convoy.rules.ending import LoseSession
from convoy.text import Unfit
from grite.errors import GitFailed


def collect(
    context: BotContext, draft: Draft, action: Collect, got: bytes | str
) -> None:
    """Take in the artifact, or the reason why there is none; blocking.

    Safe to call twice: an attempt that has ended is left alone.

    Raises:
        Unavailable: the forge does not give the commit the attempt started from.
    """
    convoy = draft.state.convoys[action.convoy]
    task = convoy.in_session(action.task)
    if task is None or task.attempt is None or task.attempt.run != action.run:
        return
    # Elsewhere than on a person's own machine anybody can cancel a run, without end.
    off = action.called_off and context.settings.sole
    ended = EndedAttempt(context, draft, convoy, task, task.attempt, off)
    if isinstance(got, str):
        _lose(ended, got)
    else:
        _take(ended, got)


def _take(ended: EndedAttempt, got: bytes) -> None:
    attempt, task = ended.attempt, ended.task
    if ended.gone_on_from:  # that commit is on no branch
        with suppress(GitFailed):  # checking the work reports it
            ended.context.mirror.ensure([ended.gone_on_from])
    try:
        with result_artifact.opened(
            got, session=ended.session, nonce=attempt.nonce, actor=attempt.session
        ) as artifact:
            ended.draft.claim(artifact.claims)
            answering = ANSWERS.get(kind_of(task.spec).name)
            if answering is None:
                take_change(ended, artifact)
            else:
                _take_answer(ended, artifact, answering)
    except result_artifact.Unfinished as error:
        ended.draft.claim(error.claims)
        price = ended.convoy.settings.engines[task.spec.engine].price
        _lose(ended, LOST, priced(*usage_noted(error.used), price), error.bundles)
    except result_artifact.TurnedAway as error:
        ended.turn_away(str(error))
    except result_artifact.Unacceptable as error:
        ended.refuse("refused", str(error))


def _take_answer(
    ended: EndedAttempt, artifact: ResultArtifact, answering: Answering
) -> None:
    """Submit the answer's command, or refuse the attempt and say why."""
    result, kind = artifact.result, kind_of(ended.task.spec)
    if kind.keeps_tries:
        _keep_tried(ended, artifact)
    if result.conclusion != "success":
        ended.turn_down(result, result.why or answering.none)
        return
    reply = Reply(
        convoy=ended.convoy,
        task=ended.task,
        attempt=ended.attempt,
        text=result.report,
        usage=result.used,
        repository=ended.context.commits,
    )
    try:
        taken = answering.read(reply)
    except Unfit as error:
        ended.refuse("refused", str(error), result)
        return
    if kind.takes_notes:
        ended.note(result, result.left.followups)
    if refused := ended.draft.submit(taken.command):
        ended.refuse("refused", refused.why, result)
    else:
        _follow(ended, taken)


def _follow(ended: EndedAttempt, taken: Taken) -> None:
    if taken.kept is not None and (work := taken.kept.work) is not None:
        name, number = ended.convoy.name, taken.kept.number
        ended.draft.keep(name, number, work.attempt, work.commit)
    if taken.said is not None:
        ended.draft.submit(taken.said)


def _keep_tried(ended: EndedAttempt, artifact: ResultArtifact) -> None:
    commit = artifact.result.commit
    if commit is not None and not brought(ended, artifact, commit):
        ended.keep(commit)


def _lose(
    ended: EndedAttempt,
    why: str,
    usage: Usage | None = None,
    bundles: tuple[bytes, ...] = (),
) -> None:
    """End the attempt; its half-done work is kept for the next attempt.

    `bundles` hold the work that its runner left, the newest first.
    """
    left = said = ""
    if not kind_of(ended.task.spec).answer:
        base, fault = ended.attempt.base, partial(unfit, ended)
        left, said = salvaged(ended.context, ended.session, base, bundles, fault)
    if left:
        ended.keep(left)
    ended.draft.submit(
        LoseSession(
            convoy=ended.convoy.name,
            task=ended.task.number,
            attempt=ended.attempt.number,
            cause="setup" if ended.called_off else "lost",
            why=f"{why}; {fit(said)}" if said else why,
            usage=usage or Usage(),
            left=left,
        )
    )
