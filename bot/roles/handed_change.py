"""Brings an attempt's commits into the mirror and puts them to the patch gate."""

from typing import Final

import pygit2
from msgspec.structs import replace

from bot.repository.strangers_commits import NoBundle, Patch, examined_patch
from bot.roles.conflict_resolution import dropped, unresolved, whole
from bot.roles.ended_attempt import EndedAttempt, fit
from bot.roles.result_artifact import Result, ResultArtifact
from convoy.gate import ci_files, gate_of
from convoy.kinds import kind_of
from convoy.model import ids
from convoy.model.session_result import CUT_OFF
from convoy.rules.ending import AcceptNothing, AcceptWork
from grite.errors import GitFailed, Unavailable

LISTED_FILES: Final = 1_000
SUMMARY_CHARS: Final = 500


def take_change(ended: EndedAttempt, artifact: ResultArtifact) -> None:
    """Accept the work, or refuse the attempt and say why."""
    result = artifact.result
    if result.commit is not None and result.commit == ended.gone_on_from:
        _pass_gate(ended, result, result.commit)
    elif _is_merge_as_it_is(ended, result):
        _accept_merge(ended, result)
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
        return "there is no work.bundle"
    try:
        head = ended.context.mirror.take_in(artifact.bundle, ended.session)
    except (GitFailed, NoBundle) as error:
        return f"work.bundle cannot be read: {error}"
    if head != commit:
        return "work.bundle does not hold the commit the result names"
    if not ended.context.composer.is_ancestor(ended.attempt.base, commit):
        return "the work does not stand on the commit the attempt was given"
    return ""


def unfit(ended: EndedAttempt, commit: str) -> str:
    """Return why no attempt may go on from half-done work; empty: one may."""
    made = whole(ended, commit)
    patch = _examined(ended, ended.root, made)
    return " ".join(patch.refusals) or _changed_tests(ended, made)


def _is_merge_as_it_is(ended: EndedAttempt, result: Result) -> bool:
    """Whether the agent says that the merge it was given needs no change."""
    takes_in = kind_of(ended.task.spec).takes_target_in
    is_merge = takes_in or bool(ended.attempt.resolves)
    return is_merge and result.conclusion == "noop" and result.commit is None


def _accept_merge(ended: EndedAttempt, result: Result) -> None:
    """Let CI judge the merge as it is, if no conflict is left in it."""
    commit = whole(ended, ended.attempt.base)
    if why := unresolved(ended, commit):
        ended.turn_down(result, why)
        return
    was_left = ended.attempt.resolves
    files = _examined(ended, ended.root, commit).files if was_left else ()
    ended.note(result, result.left.followups)
    _accept(ended, result, commit, files)


def _settle(ended: EndedAttempt, result: Result) -> None:
    """Accept the agent's word that there is nothing to do, if the command agrees."""
    if not (ended.task.spec.acceptance and result.accepted):
        why = "it has no acceptance command that could agree"
        ended.turn_down(result, f"the agent says that nothing is to be done; {why}")
        return
    ended.note(result, result.left.followups)
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
    commit = whole(ended, handed_in)
    patch = _examined(ended, ended.root, commit)
    if patch.refusals or result.conclusion != "success":
        kept = ended.keep(commit) if patch.keeps else ""
        is_done = result.conclusion == "success"
        is_half = not patch.refusals and result.outcome in CUT_OFF
        failed = result.why or "the agent did not finish"
        why = _refused(ended, result, commit, patch) if is_done else failed
        if kept and (patch.is_large or result.outcome == "oversized"):
            why = f"{why} What could be kept is at {kept}."
        left = handed_in if is_half else ""
        ended.turn_down(result, why, left, is_large=patch.is_large)
    elif why := _changed_tests(ended, commit) or _unfinished(ended, result, commit):
        ended.keep(commit)
        ended.turn_down(result, why)
    else:
        ended.note(result, result.left.followups)
        inert = ended.context.composer.inert(ended.root, commit)
        _accept(ended, result, inert, patch.files)


def _refused(ended: EndedAttempt, result: Result, commit: str, patch: Patch) -> str:
    """Return why the gate refuses a patch, or whose side is gone where it is empty."""
    gone = "" if patch.files else _unfinished(ended, result, commit)
    return gone or " ".join(patch.refusals)


def _unfinished(ended: EndedAttempt, result: Result, commit: str) -> str:
    """Return why a merge that an agent was to make whole is not; empty: it is."""
    said = " ".join((result.summary, *result.left.notes))
    return unresolved(ended, commit) or dropped(ended, commit, said)


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
        summary=fit(result.summary)[:SUMMARY_CHARS],
        usage=result.used,
        missing_walls=result.missing_walls(ended.convoy.settings),
    )
    if ended.draft.submit(accepted) is None:
        ended.draft.move(ids.HEADS + ids.task_branch(name, number), commit)
        if kind_of(ended.task.spec).keeps_work:
            ended.keep(commit)


def _changed_tests(ended: EndedAttempt, commit: str) -> str:
    """Return a sentence naming the changed tests the work was to pass; empty: none."""
    on = ended.task.spec.on
    tests = ended.convoy.task(on[0]) if on else None
    if tests is None or tests.work is None:
        return ""
    patch = _examined(ended, tests.work.commit, commit)
    changed = [name for name in patch.files if name in tests.work.files]
    names = ", ".join(changed[:5])
    return f"it changes the tests it was to pass: {names}" if names else ""


def _examined(ended: EndedAttempt, base: str, commit: str) -> Patch:
    """Return the gate's judgement; it refuses a patch that cannot be read."""
    path, settings = ended.context.mirror.path, ended.convoy.settings
    settings = replace(settings, gate=gate_of(settings.gate, ended.task))
    try:
        return examined_patch(path, base, commit, settings)
    except (GitFailed, Unavailable, pygit2.GitError, LookupError) as error:
        why = f"The work cannot be looked at: {error}."
        return Patch(files=(), refusals=(why,), keeps=False)
