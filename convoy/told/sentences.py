"""The sentence that every event says for people who read the log with other tools."""

from typing import assert_never

from convoy.events import (
    ActionDone,
    ActionIntended,
    ApprovalVoided,
    BotStarted,
    ChoiceMade,
    Claim,
    CommentSaid,
    ConvoyApproved,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRanked,
    ConvoyRequested,
    ConvoyResumed,
    Event,
    FilesModified,
    LeaseFreed,
    LeaseTaken,
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    MergeRequested,
    MergeWithdrawn,
    PeopleCalled,
    RepositoryPaused,
    RepositoryResumed,
    SessionExited,
    SessionHandoff,
    SessionLost,
    SessionReady,
    SessionRunning,
    SessionSpawned,
    TaskAdded,
    TaskApproved,
    TaskAssigned,
    TaskBlocked,
    TaskDropped,
    TaskHeard,
    TaskLinked,
    TaskMerged,
    TaskNoted,
    TaskQueued,
    TaskReported,
    TaskSplit,
    TaskStarted,
    TaskTold,
    TestsProven,
    WorkAccepted,
    WorkHeld,
    WorkProven,
    WorkRebased,
    WorkRefused,
    WorkReleased,
    WorkReviewed,
)

Edit = (
    TaskAdded
    | TaskSplit
    | TaskLinked
    | TaskAssigned
    | TaskTold
    | TaskHeard
    | TaskApproved
    | ApprovalVoided
)
Hold = MergeWithdrawn | MergeRequested | WorkHeld | WorkReleased


def sentence(fact: Event | Claim) -> str:  # noqa: C901, PLR0912  one arm a kind
    """Return what `fact` says, in one sentence."""
    match fact:
        case BotStarted():
            return f"A bot started, version {fact.version}."
        case RepositoryPaused():
            return f"{fact.by} paused everything."
        case RepositoryResumed():
            return f"{fact.by} let everything go on."
        case ConvoyRequested():
            return f"{fact.by} asked for convoy {fact.convoy} in issue #{fact.issue}."
        case ConvoyPlanned():
            return f"Planned {len(fact.tasks)} tasks ({fact.planner})."
        case ConvoyApproved():
            return f"{fact.by} approved the plan."
        case ConvoyRanked():
            return f"{fact.by} gave the convoy priority p{fact.priority}."
        case ConvoyPaused():
            why = f": {_clause(fact.why)}" if fact.why else ""
            return f"{fact.by} paused the convoy{why}."
        case ConvoyResumed():
            return f"{fact.by} resumed the convoy."
        case ConvoyCompleted():
            return f"The convoy landed as {fact.commit[:10]}."
        case ConvoyFailed():
            return f"The convoy failed: {_clause(fact.why)}."
        case PeopleCalled():
            return f"People know what waits for them: {', '.join(fact.needs)}."
        case ActionIntended():
            return f"Will do {fact.key}."
        case ActionDone():
            return f"Did {fact.key}: number {fact.number}."
        case CommentSaid():
            return f"Comment {fact.comment} on issue #{fact.issue} shows the convoy."
        case TaskNoted():
            return _noted(fact)
        case LeaseTaken():
            return f"{fact.holder} holds {fact.resource}."
        case LeaseFreed():
            return f"{fact.resource} is free."
        case MergeAttempted() | MergeFailed() | MergeLanded():
            return _merge(fact)
        case (
            TaskQueued()
            | TaskStarted()
            | TaskReported()
            | TaskBlocked()
            | TaskMerged()
            | TaskDropped()
        ):
            return _task(fact)
        case (
            TaskAdded()
            | TaskSplit()
            | TaskLinked()
            | TaskAssigned()
            | TaskTold()
            | TaskHeard()
            | TaskApproved()
            | ApprovalVoided()
        ):
            return _edit(fact)
        case MergeWithdrawn() | MergeRequested() | WorkHeld() | WorkReleased():
            return _hold(fact)
        case (
            WorkAccepted()
            | WorkRefused()
            | WorkReviewed()
            | TestsProven()
            | WorkProven()
            | ChoiceMade()
            | WorkRebased()
            | SessionLost()
        ):
            return _work(fact)
        case (
            SessionSpawned()
            | SessionReady()
            | SessionRunning()
            | FilesModified()
            | SessionHandoff()
            | SessionExited()
        ):
            return _session(fact)
        case _:
            assert_never(fact)


def _task(  # noqa: C901  one arm a kind
    fact: TaskQueued
    | TaskStarted
    | TaskReported
    | TaskBlocked
    | TaskMerged
    | TaskDropped,
) -> str:
    task = f"Task {fact.task}"
    match fact:
        case TaskQueued(why=""):
            return f"{task} is queued."
        case TaskQueued():
            return f"{task} is queued again ({fact.cause}): {_clause(fact.why)}."
        case TaskStarted():
            return f"{task}, attempt {fact.attempt}, starts from {fact.base[:10]}."
        case TaskReported():
            said = _clause(fact.report.summary)
            return f"{task}, attempt {fact.attempt}, reports: {said}."
        case TaskBlocked():
            return f"{task} is blocked: {_clause(fact.why)}."
        case TaskMerged(commit=None):
            return f"{task} needed no change."
        case TaskMerged():
            return f"{task} is merged as {str(fact.commit)[:10]}."
        case TaskDropped():
            return f"{task} was dropped: {_clause(fact.why)}."
        case _:
            assert_never(fact)


def _noted(fact: TaskNoted) -> str:
    kinds = {
        "for the tasks behind it": len(fact.notes),
        "for the scratchpad": len(fact.shared),
        "on further work": len(fact.followups),
    }
    said = ", ".join(f"{count} {what}" for what, count in kinds.items() if count)
    return f"The agent of task {fact.task}, attempt {fact.attempt}, noted: {said}."


def _edit(fact: Edit) -> str:  # noqa: C901  one arm a kind
    match fact:
        case TaskAdded():
            return f"{fact.by} added task {fact.spec.number}."
        case TaskSplit():
            numbers = ", ".join(str(part.number) for part in fact.parts)
            return f"Task {fact.by} splits task {fact.task}: {numbers}."
        case TaskLinked():
            why = f": {_clause(fact.why)}" if fact.why else ""
            by = f"{fact.by} lets" if fact.by else "The bot lets"
            return f"{by} task {fact.task} wait for task {fact.on}{why}."
        case TaskAssigned():
            return f"{fact.by} gave task {fact.task} to the engine {fact.engine}."
        case TaskTold():
            return f"{fact.by} tells task {fact.task}: {_clause(fact.text)}."
        case TaskHeard():
            return (
                f"The engine of task {fact.task}, attempt {fact.attempt}, was given "
                f"what people told it: {fact.messages} so far."
            )
        case TaskApproved():
            return f"{fact.by} approves {fact.commit[:10]} of task {fact.task}."
        case ApprovalVoided():
            why = _clause(fact.why)
            return f"{fact.by}'s approval of task {fact.task} is void: {why}."
        case _:
            assert_never(fact)


def _hold(fact: Hold) -> str:
    what = f"task {fact.task}" if fact.task else "the convoy"
    match fact:
        case MergeWithdrawn():
            return f"{fact.by} took {what} out of the merge queue."
        case MergeRequested():
            return f"{fact.by} put {what} into the merge queue."
        case WorkHeld():
            return f"The label {_clause(fact.label)} holds {what}."
        case WorkReleased():
            return f"No label holds {what} any more."
        case _:
            assert_never(fact)


def _work(  # noqa: C901  one arm a kind
    fact: WorkAccepted
    | WorkRefused
    | WorkReviewed
    | TestsProven
    | WorkProven
    | ChoiceMade
    | WorkRebased
    | SessionLost,
) -> str:
    if isinstance(fact, WorkRebased):
        base, commit = fact.base[:10], fact.commit[:10]
        return f"{fact.by} had task {fact.task} put on {base}: {commit}."
    if isinstance(fact, TestsProven):
        commit = fact.commit[:10]
        return f"CI finds the tests of task {fact.task} red at {commit}, as it should."
    if isinstance(fact, WorkProven):
        commit = fact.commit[:10]
        return f"CI finds {commit} of task {fact.task} green: it can be chosen."
    if isinstance(fact, ChoiceMade):
        commit, why = fact.commit[:10], _clause(fact.text)
        return f"Task {fact.task} chose {commit} of task {fact.on}: {why}."
    attempt = f"task {fact.task}, attempt {fact.attempt}"
    match fact:
        case WorkAccepted():
            return f"Took in {fact.commit[:10]} of {attempt}: {len(fact.files)} files."
        case WorkReviewed():
            verdict = f": {_clause(fact.text)}" if fact.text else ""
            what = {"approve": "approves", "changes": "asks for changes of"}
            return (
                f"Review {attempt}, {what[fact.verdict]} {fact.commit[:10]} of task "
                f"{fact.on}{verdict}."
            )
        case WorkRefused():
            return f"Refused {attempt}: {_clause(fact.why)}."
        case SessionLost():
            return f"Lost the session of {attempt}: {_clause(fact.why)}."
        case _:
            assert_never(fact)


def _merge(fact: MergeAttempted | MergeFailed | MergeLanded) -> str:
    what = f"task {fact.task}" if fact.task else "the convoy"
    match fact:
        case MergeAttempted():
            return (
                f"Built candidate {fact.candidate[:10]} of {what} on "
                f"{fact.base[:10]} ({fact.strategy})."
            )
        case MergeFailed():
            return f"{what.capitalize()} cannot land: {_clause(fact.why)}."
        case MergeLanded():
            judged = ", ".join(fact.judged)
            return (
                f"{what.capitalize()} landed on {fact.branch} as "
                f"{fact.candidate[:10]} (judged: {judged})."
            )
        case _:
            assert_never(fact)


def _session(fact: Claim) -> str:  # noqa: C901  one arm a kind
    session = f"Session {fact.convoy}/{fact.task}/{fact.attempt}"
    match fact:
        case SessionSpawned():
            return f"{session} is up."
        case SessionReady():
            return f"{session} has its workspace."
        case SessionRunning():
            return f"{session} started {fact.argv0} ({fact.engine})."
        case FilesModified():
            return f"{session} changed {len(fact.paths)} files."
        case SessionHandoff(commit=None):
            return f"{session} hands nothing over."
        case SessionHandoff():
            return f"{session} hands over {str(fact.commit)[:10]}."
        case SessionExited(signal=None):
            return (
                f"{session} exited with {fact.exit_code}: {fact.verdict} "
                f"({fact.outcome})."
            )
        case SessionExited():
            return (
                f"{session} was ended by signal {fact.signal}: {fact.verdict} "
                f"({fact.outcome})."
            )
        case _:
            assert_never(fact)


def _clause(text: str) -> str:
    """Return the first line of `text`, short, without a full stop."""
    first = text.strip().split("\n", 1)[0]
    return first[:200].rstrip(". ")
