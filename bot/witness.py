"""The witness's side in the bot: starts attempts and takes in what they leave.

The runner's word is a claim. What counts is decided here: by the run the log names, the
parcel's form, and the gate over the commits as git has them.
"""

import secrets
from typing import Final

from bot import intake
from bot.bundle import NoBundle
from bot.desk import Desk
from bot.draft import Draft
from bot.rest import Refused
from convoy import gate, ids
from convoy.actions import Begin, Collect
from convoy.commands import AcceptWork, BlockTask, LoseSession, RefuseWork, StartTask
from convoy.events import Cause
from convoy.state import Attempt, Convoy, Task
from grite import git
from grite.errors import GitFailed

HEADS: Final = "refs/heads/"
LOST: Final = "the session ended without a result: its machine or its witness died"


def begin(draft: Draft, action: Begin) -> None:
    """Start the next attempt; the dispatch follows once the log holds it."""
    draft.submit(
        StartTask(
            convoy=action.convoy,
            task=action.task,
            base=action.base,
            session=secrets.token_hex(16),
            nonce=secrets.token_hex(8),
            now=draft.now,
        )
    )


async def fetch(desk: Desk, action: Collect) -> bytes | str | None:
    """Return the artifact of a run, why there is none, or None: it may still come."""
    try:
        data = await desk.github.artifact(action.run, intake.ARTIFACT)
    except Refused as refused:
        return str(refused)
    if data is not None:
        return data
    now = desk.clock()
    ended = desk.ended.setdefault(action.run, now)
    return LOST if now - ended >= desk.settings.artifact_grace_s * 1000 else None


def collect(desk: Desk, draft: Draft, action: Collect, got: bytes | str) -> None:
    """Take in what `fetch` got; blocking, and safe to call twice."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.task(action.task)
    if task is None or task.attempt is None or task.attempt.run != action.run:
        return
    attempt = task.attempt
    if isinstance(got, str):
        _lose(draft, convoy, task, attempt, got)
        return
    session = ids.session_name(convoy.name, task.number, attempt.number)
    try:
        with intake.opened(
            got, session=session, nonce=attempt.nonce, actor=attempt.session
        ) as parcel:
            draft.claim(parcel.claims)
            why = _keep(desk, draft, convoy, task, attempt, parcel)
            if why is None:
                _accept(desk, draft, convoy, task, attempt, parcel.result)
            elif parcel.result.status in intake.NEEDS_A_PERSON:
                _refuse(draft, convoy, task, attempt, "failed", why)
                name, number = convoy.name, task.number
                draft.submit(BlockTask(convoy=name, task=number, why=why))
            else:
                cause: Cause = (
                    "refused" if parcel.result.conclusion == "success" else "failed"
                )
                _refuse(draft, convoy, task, attempt, cause, why)
    except intake.Unfinished as error:
        draft.claim(error.claims)
        _lose(draft, convoy, task, attempt, LOST)
    except intake.Unacceptable as error:
        _refuse(draft, convoy, task, attempt, "refused", str(error))


def _keep(
    desk: Desk,
    draft: Draft,
    convoy: Convoy,
    task: Task,
    attempt: Attempt,
    parcel: intake.Parcel,
) -> str | None:
    """Bring the commits; return why they may not land, None when they may.

    Work that may not land is kept under refs/grite/attempts: none is ever lost.
    """
    result = parcel.result
    if result.commit is None or parcel.bundle is None:
        return result.why or "the agent changed nothing"
    session = ids.session_name(convoy.name, task.number, attempt.number)
    try:
        desk.mirror.take_in(parcel.bundle, session)
    except (GitFailed, NoBundle) as error:
        return f"work.bundle cannot be read: {error}"
    if not desk.mirror.has(result.commit):
        return "work.bundle does not hold the commit the result names"
    if not desk.composer.is_ancestor(attempt.base, result.commit):
        return "the work does not stand on the commit the attempt was given"
    why = result.why or "the agent did not finish"
    if result.conclusion == "success":
        refusals = _gate(desk, convoy, attempt.base, result.commit)
        why = " ".join(refusals)
    if why:
        ref = ids.attempt_ref(convoy.name, task.number, attempt.number)
        draft.move(ref, result.commit)
    return why or None


def _gate(desk: Desk, convoy: Convoy, base: str, commit: str) -> tuple[str, ...]:
    where = desk.mirror.path
    options = ("-r", "--raw", "-z", "--no-renames")
    raw = git.run(["diff-tree", *options, base, commit], cwd=where)
    changes = gate.parse_raw(raw.stdout)
    if not changes:
        return ("The work changes nothing.",)
    patch = git.run(["diff-tree", "-r", "-p", "--binary", base, commit], cwd=where)
    settings = convoy.settings
    size = len(patch.stdout)
    return gate.refusals(changes, size, settings.gate, settings.limits)


def _accept(
    desk: Desk,
    draft: Draft,
    convoy: Convoy,
    task: Task,
    attempt: Attempt,
    result: intake.Result,
) -> None:
    commit = result.commit
    if commit is None:
        return
    names = git.run(
        ["diff-tree", "-r", "--name-only", "-z", attempt.base, commit],
        cwd=desk.mirror.path,
    )
    files = tuple(names.stdout.decode(errors="replace").rstrip("\0").split("\0"))
    refused = draft.submit(
        AcceptWork(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            commit=commit,
            base=attempt.base,
            files=files,
            summary=result.summary[:500],
        )
    )
    if refused is None:
        draft.move(HEADS + ids.task_branch(convoy.name, task.number), commit)


def _refuse(
    draft: Draft, convoy: Convoy, task: Task, attempt: Attempt, cause: Cause, why: str
) -> None:
    draft.submit(
        RefuseWork(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            cause=cause,
            why=why,
        )
    )


def _lose(draft: Draft, convoy: Convoy, task: Task, attempt: Attempt, why: str) -> None:
    draft.submit(
        LoseSession(
            convoy=convoy.name,
            task=task.number,
            attempt=attempt.number,
            cause="lost",
            why=why,
        )
    )
