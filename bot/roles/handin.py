"""Takes in an attempt's artifact: the runner's word is a claim that is checked here.

The run has to be the one in the log, and the artifact well-formed. Then a change has to
pass the gate over the commits in git, and an answer is read by the task's kind. Work
that may not land is kept under refs/grite/attempts: none is ever lost. What a session
left that died comes from its runner's folder or the feed, and is checked alike.
"""

import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bot.repository.draft import Draft
from bot.repository.strangers_commits import NoBundle, Patch, examined_patch
from bot.roles import result_artifact
from bot.roles.bot_context import BotContext
from bot.roles.result_artifact import Result, ResultArtifact
from bot.roles.witness import LOST, EndedAttempt, conflicts_left, fit_text, whole_work
from convoy.answers import ANSWERS
from convoy.answers.answering import Answering, Reply
from convoy.gate import ci_files, gate_of
from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.records import Usage
from convoy.model.session_result import (
    CUT_OFF,
    Left,
    bounded_notes,
    priced,
    usage_noted,
)
from convoy.model.work import Work
from convoy.owed import Collect
from convoy.rules.ending import AcceptNothing, AcceptWork, LoseSession, decline_reasons
from convoy.text import Unfit, full_stop
from grite.errors import GitFailed


def collect(
    context: BotContext, draft: Draft, action: Collect, got: bytes | str
) -> None:
    """Take in the artifact, or why there is none; blocking, and safe to call twice."""
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
    result, kind = artifact.result, kind_of(ended.task.spec)
    tried = result.commit if kind.keeps_tries else None
    if tried is not None and not brought(ended, artifact, tried):
        ended.keep(tried)
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
    if not kind.makes_plan:
        ended.note(result)
    if refused := ended.draft.submit(taken.command):
        ended.refuse("refused", refused.why, result)
        return
    if taken.kept is not None and (work := taken.kept.work) is not None:
        name, number = ended.convoy.name, taken.kept.number
        ended.draft.keep(name, number, work.attempt, work.commit)
    if taken.said is not None:
        ended.draft.submit(taken.said)


def _lose(
    ended: EndedAttempt,
    why: str,
    usage: Usage | None = None,
    bundles: tuple[bytes, ...] = (),
) -> None:
    """End the attempt and keep its half-done work, of `bundles` the newest usable."""
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
            why=f"{why}; {fit_text(said)}" if said else why,
            usage=usage or Usage(),
            left=left,
        )
    )


LISTED_FILES: Final = 1_000
SUMMARY_CHARS: Final = 500


def take_change(ended: EndedAttempt, artifact: ResultArtifact) -> None:
    result, attempt = artifact.result, ended.attempt
    is_merge = kind_of(ended.task.spec).takes_target_in or bool(attempt.resolves)
    if result.commit is not None and result.commit == ended.gone_on_from:
        _pass_gate(ended, result, result.commit)
    elif is_merge and result.conclusion == "noop" and result.commit is None:
        _accept_merge(ended, result)  # it needs no change
    elif (work := _left_as_it_is(ended, result)) is not None:
        ended.note(result)
        _accept(ended, result, work.commit, work.files)
    elif result.conclusion == "noop" and result.commit is None:
        _settle(ended, result)
    elif result.commit is None or artifact.bundle is None:
        ended.turn_down(result, result.why or "the agent changed nothing")
    elif why := brought(ended, artifact, result.commit):
        ended.turn_down(result, why)
    else:
        _pass_gate(ended, result, result.commit)


def brought(ended: EndedAttempt, artifact: ResultArtifact, commit: str) -> str:
    """Bring the commits into the mirror; return why they cannot be used."""
    if artifact.bundle is None:
        return "work.bundle is missing"
    try:
        head = ended.context.mirror.take_in(artifact.bundle, ended.session)
    except (GitFailed, NoBundle) as error:
        return f"work.bundle cannot be read: {error}"
    if head != commit:
        return "work.bundle does not contain the commit that the result names"
    if not ended.context.composer.is_ancestor(ended.attempt.base, commit):
        return "the work is not based on the commit that the attempt started from"
    return ""


def unfit(ended: EndedAttempt, commit: str) -> str:
    """Return why no attempt may go on from half-done work; empty: one may."""
    made = whole_work(ended, commit)
    patch = _examined(ended, ended.root, made)
    return " ".join(patch.refusals) or _changed_tests(ended, made)


def _left_as_it_is(ended: EndedAttempt, result: Result) -> Work | None:
    """Return work that stays, for its agent declines all that was said of its lines."""
    told = {e.comment for e in ended.task.threads if e.is_told(ended.attempt.number)}
    declines = told and told <= decline_reasons(_declined(result)).keys()
    is_unchanged = result.conclusion == "noop" and result.commit is None
    return ended.task.earlier if declines and is_unchanged else None


def _accept_merge(ended: EndedAttempt, result: Result) -> None:
    """Let CI judge the merge as it is, if no conflict is left in it."""
    commit = whole_work(ended, ended.attempt.base)
    if why := conflicts_left(ended, commit):
        ended.turn_down(result, why)
        return
    was_left = ended.attempt.resolves
    files = _examined(ended, ended.root, commit).files if was_left else ()
    ended.note(result)
    _accept(ended, result, commit, files)


def _settle(ended: EndedAttempt, result: Result) -> None:
    """Accept the agent's word that there is nothing to do, if the command agrees."""
    reason = f" ({said})" if (said := fit_text(result.summary).rstrip(".")) else ""
    found = f"the agent found nothing to do{reason}"
    if not (ended.task.spec.acceptance and result.accepted):
        why = "no acceptance command confirms this"
        ended.turn_down(result, f"{found}, but {why}")
        return
    ended.note(result, found if reason else "")
    refused = ended.draft.submit(
        AcceptNothing(
            convoy=ended.convoy.name,
            task=ended.task.number,
            attempt=ended.attempt.number,
            usage=result.used,
        )
    )
    if refused is not None:
        ended.turn_down(result, str(refused))


def _pass_gate(ended: EndedAttempt, result: Result, handed_in: str) -> None:
    commit = whole_work(ended, handed_in)
    patch = _examined(ended, ended.root, commit)
    if patch.refusals or result.conclusion != "success":
        kept = ended.keep(commit) if patch.keeps else ""
        is_done = result.conclusion == "success"
        is_half = not patch.refusals and result.outcome in CUT_OFF
        if is_done:
            unmade = "" if patch.files else conflicts_left(ended, commit)
            why = unmade or " ".join(patch.refusals)
        else:
            why = result.why or "the agent did not finish"
        if kept and (patch.is_large or result.outcome == "oversized"):
            why = f"{full_stop(why)} The part that could be kept is at {kept}."
        left = handed_in if is_half else ""
        ended.turn_down(result, why, left, is_large=patch.is_large)
    elif why := _changed_tests(ended, commit) or conflicts_left(ended, commit):
        ended.keep(commit)
        ended.turn_down(result, why)
    else:
        ended.note(result)
        target = ended.draft.refs.get(ids.HEADS + ended.convoy.target)
        inert = ended.context.composer.inert(ended.root, commit, target)
        _accept(ended, result, inert, patch.files)


def _accept(
    ended: EndedAttempt, result: Result, commit: str, files: tuple[str, ...]
) -> None:
    name, number = ended.convoy.name, ended.task.number
    accepted = AcceptWork(
        convoy=name,
        task=number,
        attempt=ended.attempt.number,
        commit=commit,
        base=ended.root,
        files=files[:LISTED_FILES],
        ci_files=ci_files(files)[:LISTED_FILES],
        summary=fit_text(result.summary)[:SUMMARY_CHARS],
        usage=result.used,
        missing_walls=result.missing_walls(ended.convoy.settings),
        declined=_declined(result),
    )
    if ended.draft.submit(accepted) is None:
        ended.draft.move(ids.HEADS + ids.task_branch(name, number), commit)
        if kind_of(ended.task.spec).keeps_work:
            ended.keep(commit)


def _declined(result: Result) -> tuple[str, ...]:
    return bounded_notes(Left(declined=result.left.declined)).declined


def _changed_tests(ended: EndedAttempt, commit: str) -> str:
    """Return a sentence naming the changed tests the work was to pass; empty: none."""
    on = ended.task.spec.on
    tests = ended.convoy.task(on[0]) if on else None
    if tests is None or tests.work is None:
        return ""
    patch = _examined(ended, tests.work.commit, commit)
    changed = [name for name in patch.files if name in tests.work.files]
    names = ", ".join(changed[:5])
    return f"the work changes the tests that it must pass: {names}" if names else ""


def _examined(ended: EndedAttempt, base: str, commit: str) -> Patch:
    path, settings = ended.context.mirror.path, ended.convoy.settings
    settings = replace(settings, gate=gate_of(settings.gate, ended.task))
    return examined_patch(path, base, commit, settings)


KEPT: Final = "its work so far is kept"
_OF_NO_USE: Final = "its work so far cannot be used: {}"


def salvaged(
    context: BotContext,
    session: str,
    base: str,
    bundles: Sequence[bytes],
    unfit: Callable[[str], str],
) -> tuple[str, str]:
    """Return the newest usable commit, and a sentence about it.

    Both are empty where the session left no work. The bundles are unchecked, the newest
    first; `unfit` returns why no attempt may go on from a commit, or nothing.
    """
    sent = context.feed.kept(session) if context.feed else b""
    why = ""
    for bundle in filter(None, (*bundles, sent)):
        commit, why = _brought(context, session, base, bundle)
        why = why or unfit(commit)
        if not why:
            return commit, KEPT
    return "", _OF_NO_USE.format(why) if why else ""


def _brought(
    context: BotContext, session: str, base: str, bundle: bytes
) -> tuple[str, str]:
    """Bring a bundle into the mirror; return its head, and why it cannot be used."""
    with tempfile.NamedTemporaryFile(prefix="brat-checkpoint-") as file:
        file.write(bundle)
        file.flush()
        try:
            commit = context.mirror.take_in(Path(file.name), session)
        except (GitFailed, NoBundle) as error:
            return "", f"it cannot be read: {error}"
    if not context.composer.is_ancestor(base, commit):
        return "", "it is not based on the commit that the attempt started from"
    return commit, ""
