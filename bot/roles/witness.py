"""The witness's side in the bot: starts attempts, fetches and takes in what they made.

An attempt that makes earlier work fit what has landed since starts from the branch's
tip with that work merged in and git's conflict markers left, and is told what both
sides were for and did. What it makes is one commit on that tip: the merge with the
markers is in no history.

The runner's word is a claim that is checked here: the run has to be the one in the log,
and the artifact well-formed. Then a change has to pass the gate over the commits in
git, and an answer is read by the task's kind. Work that may not land is kept under
refs/grite/attempts: none is ever lost. What a session left that died comes from its
runner's folder or the feed, and is checked alike.
"""

import secrets
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from bot.repository.compose import Piece
from bot.repository.strangers_commits import (
    NoBundle,
    NoSuchRef,
    Patch,
    examined_patch,
)
from bot.roles import refinery, result_artifact
from bot.roles.bot_context import BotContext, BotDraft
from bot.roles.result_artifact import (
    LOST,
    NEEDS_A_PERSON,
    Result,
    ResultArtifact,
    fit_text,
)
from bot.text import merge_texts, phrase
from bot.text.merge_texts import DIFF_CHARS
from convoy.answers import ANSWERS, Answering, Question, Reply
from convoy.events import AttemptCommand, copied
from convoy.events.people_events import ConvoyPaused
from convoy.events.plan_events import TaskNoted
from convoy.gate import ci_files, gate_of, path_list, protected
from convoy.kinds import half_done, kind_of, unmerged
from convoy.model import ids
from convoy.model.records import Cause, Usage
from convoy.model.session_result import (
    CUT_OFF,
    FOR_A_PERSON,
    OUTAGES,
    SIDE_REF,
    Left,
    bounded_notes,
    priced,
    usage_noted,
)
from convoy.model.state import Convoy, Task
from convoy.model.work import Attempt, Resolution, Work
from convoy.owed import Begin, Collect, Pause
from convoy.rules import ending
from convoy.rules.landing import open_candidates
from convoy.rules.people import BlockTask
from convoy.rules.starting import StartTask
from convoy.text import Unfit, full_stop
from grite.errors import GitFailed

PROTECTED_MOST: Final = 100
"""How many of the protected paths are noted for which work was refused."""


def begin(draft: BotDraft, action: Begin) -> None:
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
        logged = draft.bot.mirror.state.convoys.get(convoy.name)
        if logged is None or logged.task(task.number) is None:
            return  # a refused ref of its could not be noted: the next push starts it
        branch = task.spec.takes or convoy.target
        base = merge = refinery.unresolved_merge(draft, convoy, branch)
    elif task is not None:
        resolves = resolution(draft.bot, convoy, task, base)
        if resolves is not None and base == resolves.tip:
            base = merge = resolves.merge
    brief = ""
    if task and (answering := ANSWERS.get(kind_of(task.spec).answer)):
        question = Question(
            state=draft.state,
            convoy=convoy,
            task=task,
            session=session,
            repository=draft.bot.commits,
        )
        brief = answering.told(question)
    start = copied(
        StartTask,
        action,
        base=base,
        session=session,
        nonce=secrets.token_hex(8),
        now=draft.now,
        brief=brief,
        resolves=resolves,
    )
    refused = draft.submit(start)
    kept = merge
    if not kept and base in {each.commit for each in open_candidates(convoy)}:
        kept = base  # its branch may go at any time
    if kept:
        draft.bot.mirror.ensure([kept])
    if task is not None and kept and refused is None:  # so that the runner gets it
        draft.keep(convoy.name, task.number, task.started + 1, kept)


def pause(draft: BotDraft, action: Pause) -> None:
    convoy = draft.state.convoys[action.convoy]
    pause = ConvoyPaused(convoy=convoy.name, by=draft.bot.login, why=action.why)
    if draft.submit(pause) is None and action.tell:
        by, why = convoy.sponsor, action.why
        text = phrase("stopped-all", by=by, why=why)
        draft.say(convoy.issue, "breaker", f"{convoy.name}/{draft.now}", text)


def note_heard(draft: BotDraft) -> None:
    """Submit what running sessions told the feed and the log does not hold yet."""
    if draft.bot.feed is None:
        return
    for heard in draft.bot.feed.owed():
        draft.submit(heard)


def resolution(
    context: BotContext, convoy: Convoy, task: Task, base: str
) -> Resolution | None:
    """Return what the next attempt makes fit; None: nothing; blocking.

    `base` is the branch's tip, the candidate or the work ahead that the attempt starts
    from, or the half-done work that it continues.
    """
    found, left = unmerged(convoy, task), half_done(convoy, task)
    if found is None:
        return None
    if left is None or base != left.commit:
        context.mirror.ensure([base, found.commit, found.base])
        message = merge_texts.work_merge(convoy, task)
        piece = copied(Piece, found, work=found.commit, onto=base, message=message)
        merge, tip = context.composer.unresolved(piece), base
    elif found.merge and left.ground == found.merge:
        merge, tip = found.merge, left.base
    else:
        return None
    commits, paths = context.commits, found.paths
    fork = context.composer.base_of(found.base, tip) or found.base
    landed = commits.landed(fork, tip, paths)
    others = (
        other
        for other in convoy.tasks
        if (other.landed or (other.candidate and other.candidate.commit)) in landed
        or (other.unmerged is not None and other.unmerged.commit == tip)
        or (other.work is not None and {*other.work.files} & {*paths} and other.landed)
    )
    told = merge_texts.conflict_text(
        paths=paths,
        commits=[commits.subject(each) for each in landed],
        others=sorted(others, key=lambda t: (not t.landed, t.ended_at), reverse=True),
        landed=commits.diff(fork, tip, DIFF_CHARS, paths),
        own=commits.diff(found.base, found.commit, DIFF_CHARS, paths),
    )
    return Resolution(attempt=found.attempt, merge=merge, tip=tip, told=told)


@dataclass(frozen=True)
class EndedAttempt:
    """An attempt whose session has ended, and what becomes of it in the draft."""

    draft: BotDraft
    convoy: Convoy
    task: Task
    attempt: Attempt
    called_off: bool = False
    """Whether the person whose machine it is ended it: then it counts as none."""

    @property
    def which(self) -> AttemptCommand:
        name, number = self.convoy.name, self.task.number
        return AttemptCommand(convoy=name, task=number, attempt=self.attempt.number)

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
        self,
        result: Result,
        why: str,
        left: str = "",
        *,
        paths: Sequence[str] = (),
        is_large: bool = False,
    ) -> None:
        """Refuse the attempt; if only a person can help, block the task at once.

        `left` is the half-done commit that the next attempt goes on from, `paths` what
        the work changes.
        """
        cause: Cause = "outage" if result.outcome in OUTAGES else "failed"
        if result.conclusion == "success" or result.refusals:
            cause = "refused"
        elif result.outcome == "setup" or self.called_off:
            cause = "setup"
        self.refuse(cause, why, result, left, paths if cause == "refused" else ())
        is_for_a_person = is_large or result.outcome in FOR_A_PERSON
        if result.status in NEEDS_A_PERSON or is_for_a_person:
            self.block(why)

    def block(self, why: str) -> None:
        self.draft.submit(copied(BlockTask, self.which, why=fit_text(why)))

    def refuse(
        self,
        cause: Cause,
        why: str,
        result: Result | None = None,
        left: str = "",
        paths: Sequence[str] = (),
    ) -> None:
        """End the attempt without work; its agent's notes are kept all the same."""
        if result is not None:
            self.note(result)
        gate = gate_of(self.convoy.settings.gate, self.task)
        refused = copied(
            ending.RefuseWork,
            self.which,
            cause=cause,
            why=fit_text(why),
            now=self.draft.now,
            asked_s=(result and result.retry_after_s) or 0.0,
            usage=result.used if result else Usage(),
            left=left,
            protected=protected(paths, gate)[:PROTECTED_MOST],
        )
        self.draft.submit(refused)

    def note(self, result: Result, own: str = "") -> None:
        """Put down what a session noted, after a note of one's own."""
        if self.task.number == 0:
            return
        notes, shared = (own, *result.left.notes), result.left.shared
        self.draft.submit(copied(TaskNoted, self.which, notes=notes, shared=shared))

    def keep(self, commit: str) -> str:
        """Keep a commit of the attempt for good; return the ref it is kept at."""
        name, number = self.convoy.name, self.task.number
        return self.draft.keep(name, number, self.attempt.number, commit)

    def examined(self, base: str, commit: str) -> Patch:
        path, settings = self.draft.bot.mirror.path, self.convoy.settings
        settings = replace(settings, gate=gate_of(settings.gate, self.task))
        return examined_patch(path, base, commit, settings)

    def whole_work(self, commit: str) -> str:
        """Return the work as one commit on the branch, if the attempt made work fit."""
        if not self.attempt.resolves:
            return commit
        return self.draft.bot.composer.flattened(self.root, commit)

    def conflicts_left(self, commit: str) -> str:
        """Return a sentence naming the files that still conflict; empty: none does."""
        merge = self.attempt.resolves
        if kind_of(self.task.spec).takes_target_in:
            merge = self.root
        if not merge:
            return ""
        left = self.draft.bot.composer.left_over(merge, commit)
        names = path_list([fit_text(path) for path in left])
        return f"Conflict markers remain in {names}." if left else ""


def collect(draft: BotDraft, action: Collect, got: bytes | str) -> None:
    """Take in the artifact, or why there is none; blocking, and safe to call twice."""
    convoy = draft.state.convoys[action.convoy]
    task = convoy.in_session(action.task)
    if task is None or task.attempt is None or task.attempt.run != action.run:
        return
    # Elsewhere than on a person's own machine anybody can cancel a run, without end.
    off = action.called_off and draft.bot.settings.sole
    attempt = task.attempt
    ended = EndedAttempt(draft, convoy, task, attempt, off)
    if isinstance(got, str):
        _lose(ended, got)
        return
    if ended.gone_on_from:  # that commit is on no branch
        with suppress(GitFailed):  # checking the work reports it
            draft.bot.mirror.ensure([ended.gone_on_from])
    try:
        with result_artifact.opened(
            got, session=ended.session, nonce=attempt.nonce, actor=attempt.session
        ) as artifact:
            draft.claim(artifact.claims)
            answering = ANSWERS.get(kind_of(task.spec).answer)
            if answering is None:
                take_change(ended, artifact)
            else:
                _take_answer(ended, artifact, answering)
    except result_artifact.Unfinished as error:
        draft.claim(error.claims)
        price = convoy.settings.engines[task.spec.engine].price
        used = priced(*usage_noted(error.used), price)
        _lose(ended, error.why or LOST, used, error.bundles, told=bool(error.why))
        if error.why:
            ended.block(error.why)
    except result_artifact.TurnedAway as error:
        ended.refuse("setup", str(error))  # it never began: that costs no attempt
        ended.block(str(error))
    except result_artifact.Unacceptable as error:
        ended.refuse("refused", str(error))


def _take_answer(
    ended: EndedAttempt, artifact: ResultArtifact, answering: Answering
) -> None:
    result, kind = artifact.result, kind_of(ended.task.spec)
    tried, bundle = result.commit if kind.keeps_tries else None, artifact.bundle
    if tried is not None and bundle and not _brought(ended, bundle, tried):
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
        repository=ended.draft.bot.commits,
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
    *,
    told: bool = False,
) -> None:
    """End the attempt and keep its half-done work, of `bundles` the newest usable.

    `told`: the session itself says why, which is its machine's fault.
    """
    left = said = ""
    if not kind_of(ended.task.spec).answer:
        left, said = _salvaged(ended, bundles)
    if left:
        ended.keep(left)
    lost = copied(
        ending.LoseSession,
        ended.which,
        cause="setup" if told or ended.called_off else "lost",
        why=f"{why}; {fit_text(said)}" if said else why,
        usage=usage or Usage(),
        left=left,
    )
    ended.draft.submit(lost)


LISTED_FILES: Final = 1_000
SUMMARY_CHARS: Final = 500


def take_change(ended: EndedAttempt, artifact: ResultArtifact) -> None:
    result, attempt = _with_side_branches(ended, artifact), ended.attempt
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
    elif why := _brought(ended, artifact.bundle, result.commit):
        ended.turn_down(result, why)
    else:
        _pass_gate(ended, result, result.commit)


def _with_side_branches(ended: EndedAttempt, artifact: ResultArtifact) -> Result:
    """Keep what the bundle has beside the work, if it may be kept; note where it is."""
    result = artifact.result
    if artifact.bundle is None:
        return result
    try:
        session = f"{ended.session}-aside"
        commit = ended.draft.bot.mirror.take_in(artifact.bundle, session, SIDE_REF)
        patch = ended.examined(ended.root, commit)
        if patch.keeps:
            which = ended.convoy.name, ended.task.number, ended.attempt.number
            _, where = ids.attempt_refs(*which, commit)
            ended.draft.move(where, commit)
            said = f"is kept at {where}"
        else:
            why = " ".join(patch.refusals) or "it changes workflows"
            said = f"is not kept: {why}"
    except NoSuchRef:  # as in most
        return result
    except (GitFailed, NoBundle) as error:
        said = f"cannot be read: {error}"
    note = full_stop(fit_text(f"What is on another branch, or stashed, {said}"))
    left = replace(result.left, notes=(note, *result.left.notes))
    return replace(result, left=left)


def _brought(ended: EndedAttempt, bundle: Path, commit: str) -> str:
    """Bring the commits into the mirror; return why they cannot be used."""
    try:
        head = ended.draft.bot.mirror.take_in(bundle, ended.session)
    except (GitFailed, NoBundle) as error:
        return f"work.bundle cannot be read: {error}"
    if head != commit:
        return "work.bundle does not contain the commit that the result names"
    if not ended.draft.bot.composer.is_ancestor(ended.attempt.base, commit):
        return "the work is not based on the commit that the attempt started from"
    return ""


def _left_as_it_is(ended: EndedAttempt, result: Result) -> Work | None:
    """Return work that stays, for its agent declines all that was said of its lines."""
    told = {e.comment for e in ended.task.threads if e.is_told(ended.attempt.number)}
    declines = told and told <= ending.decline_reasons(_declined(result)).keys()
    is_unchanged = result.conclusion == "noop" and result.commit is None
    return ended.task.earlier if declines and is_unchanged else None


def _accept_merge(ended: EndedAttempt, result: Result) -> None:
    """Let CI judge the merge as it is, if no conflict is left in it."""
    commit = ended.whole_work(ended.attempt.base)
    was_left = ended.attempt.resolves
    patch = ended.examined(ended.root, commit) if was_left else None
    refused = " ".join(patch.refusals) if patch and patch.files else ""
    if why := ended.conflicts_left(commit) or refused:
        ended.turn_down(result, why)
        return
    files = patch.files if patch else ()
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
    nothing = copied(ending.AcceptNothing, ended.which, usage=result.used)
    if (refused := ended.draft.submit(nothing)) is not None:
        ended.turn_down(result, str(refused))


def _pass_gate(ended: EndedAttempt, result: Result, handed_in: str) -> None:
    commit = ended.whole_work(handed_in)
    patch = ended.examined(ended.root, commit)
    if patch.refusals or result.conclusion != "success":
        kept = ended.keep(commit) if patch.keeps else ""
        is_done = result.conclusion == "success"
        is_half = not patch.refusals and result.outcome in CUT_OFF
        if is_done:
            unmade = "" if patch.files else ended.conflicts_left(commit)
            why = unmade or " ".join(patch.refusals)
        else:
            why = result.why or "the agent did not finish"
        if kept and (patch.is_large or result.outcome == "oversized"):
            why = f"{full_stop(why)} The part that could be kept is at {kept}."
        left = handed_in if is_half else ""
        is_large = patch.is_large
        ended.turn_down(result, why, left, paths=patch.files, is_large=is_large)
    elif why := _changed_tests(ended, commit) or ended.conflicts_left(commit):
        ended.keep(commit)
        ended.turn_down(result, why)
    else:
        ended.note(result)
        target = ended.draft.refs.get(ids.HEADS + ended.convoy.target)
        composer, now = ended.draft.bot.composer, ended.draft.now
        inert = composer.inert(ended.root, commit, target, at=now)
        _accept(ended, result, inert, patch.files)


def _accept(
    ended: EndedAttempt, result: Result, commit: str, files: tuple[str, ...]
) -> None:
    name, number = ended.convoy.name, ended.task.number
    accepted = copied(
        ending.AcceptWork,
        ended.which,
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
    patch = ended.examined(tests.work.commit, commit)
    changed = [name for name in patch.files if name in tests.work.files]
    names = ", ".join(changed[:5])
    return f"the work changes the tests that it must pass: {names}" if names else ""


def _salvaged(ended: EndedAttempt, bundles: Sequence[bytes]) -> tuple[str, str]:
    """Return the newest commit that an attempt may go on from, and a sentence about it.

    Both are empty where the session left no work. The bundles are unchecked, the newest
    first.
    """
    feed, why = ended.draft.bot.feed, ""
    sent = feed.kept(ended.session) if feed else b""
    for bundle in filter(None, (*bundles, sent)):
        commit, why = _half_done(ended, bundle)
        if not why:
            return commit, "its work so far is kept"
    return "", f"its work so far cannot be used: {why}" if why else ""


def _half_done(ended: EndedAttempt, bundle: bytes) -> tuple[str, str]:
    """Bring a bundle into the mirror; return its head, and why it cannot be used."""
    with tempfile.NamedTemporaryFile(prefix="brat-checkpoint-") as file:
        file.write(bundle)
        file.flush()
        try:
            commit = ended.draft.bot.mirror.take_in(Path(file.name), ended.session)
        except (GitFailed, NoBundle) as error:
            return "", f"it cannot be read: {error}"
    if not ended.draft.bot.composer.is_ancestor(ended.attempt.base, commit):
        return "", "it is not based on the commit that the attempt started from"
    made = ended.whole_work(commit)
    refusals = ended.examined(ended.root, made).refusals
    return commit, " ".join(refusals) or _changed_tests(ended, made)
