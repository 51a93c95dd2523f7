"""Every brat event: what happened, in the past tense, with all that a fold needs.

An event is a frozen struct whose JSON form carries `v` and `type` (noun dot
participle). `Event` is the closed union of what a bot writes and what changes state;
`Claim` is what a session says of itself, imported beside the bot's own events and never
believed by the fold. docs/log-format.md lists all fields; a test keeps it complete.
"""

from convoy.events.actions import (
    ActionDone,
    ActionIntended,
    ActionKind,
    CommentSaid,
    LeaseFreed,
    LeaseTaken,
    Reaction,
)
from convoy.events.claims import (
    FilesModified,
    SessionExited,
    SessionHandoff,
    SessionReady,
    SessionRunning,
    SessionSpawned,
)
from convoy.events.convoys import (
    ConvoyApproved,
    ConvoyCompleted,
    ConvoyFailed,
    ConvoyPaused,
    ConvoyPlanned,
    ConvoyRanked,
    ConvoyRequested,
    ConvoyResumed,
    PeopleCalled,
)
from convoy.events.merges import (
    MergeAttempted,
    MergeFailed,
    MergeLanded,
    MergeRequested,
    MergeWithdrawn,
)
from convoy.events.parts import (
    INSTRUCTIONS,
    PLANNER,
    Approve,
    Budget,
    Cause,
    EngineSpec,
    Estimate,
    Fact,
    Finding,
    Followup,
    Followups,
    Gate,
    Kind,
    Limits,
    Occasion,
    Opinion,
    Overlap,
    Price,
    Report,
    Settings,
    Strategy,
    TaskSpec,
    Usage,
    Verdict,
    Wait,
)
from convoy.events.repository import BotStarted, RepositoryPaused, RepositoryResumed
from convoy.events.tasks import (
    ApprovalVoided,
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
)
from convoy.events.work import (
    ChoiceMade,
    SessionLost,
    TestsProven,
    WorkAccepted,
    WorkHeld,
    WorkProven,
    WorkRebased,
    WorkRefused,
    WorkReleased,
    WorkReviewed,
)

Claim = (
    SessionSpawned
    | SessionReady
    | SessionRunning
    | FilesModified
    | SessionHandoff
    | SessionExited
)

Event = (
    BotStarted
    | RepositoryPaused
    | RepositoryResumed
    | ConvoyRequested
    | ConvoyPlanned
    | ConvoyApproved
    | ConvoyRanked
    | ConvoyPaused
    | ConvoyResumed
    | ConvoyCompleted
    | ConvoyFailed
    | PeopleCalled
    | TaskQueued
    | TaskStarted
    | TaskNoted
    | TaskReported
    | TaskBlocked
    | TaskMerged
    | TaskDropped
    | TaskAdded
    | TaskSplit
    | TaskLinked
    | TaskAssigned
    | TaskTold
    | TaskHeard
    | TaskApproved
    | ApprovalVoided
    | WorkAccepted
    | WorkRefused
    | WorkReviewed
    | TestsProven
    | WorkProven
    | ChoiceMade
    | WorkRebased
    | WorkHeld
    | WorkReleased
    | SessionLost
    | MergeAttempted
    | MergeFailed
    | MergeLanded
    | MergeWithdrawn
    | MergeRequested
    | LeaseTaken
    | LeaseFreed
    | ActionIntended
    | ActionDone
    | CommentSaid
)

__all__ = [
    "INSTRUCTIONS",
    "PLANNER",
    "ActionDone",
    "ActionIntended",
    "ActionKind",
    "ApprovalVoided",
    "Approve",
    "BotStarted",
    "Budget",
    "Cause",
    "ChoiceMade",
    "Claim",
    "CommentSaid",
    "ConvoyApproved",
    "ConvoyCompleted",
    "ConvoyFailed",
    "ConvoyPaused",
    "ConvoyPlanned",
    "ConvoyRanked",
    "ConvoyRequested",
    "ConvoyResumed",
    "EngineSpec",
    "Estimate",
    "Event",
    "Fact",
    "FilesModified",
    "Finding",
    "Followup",
    "Followups",
    "Gate",
    "Kind",
    "LeaseFreed",
    "LeaseTaken",
    "Limits",
    "MergeAttempted",
    "MergeFailed",
    "MergeLanded",
    "MergeRequested",
    "MergeWithdrawn",
    "Occasion",
    "Opinion",
    "Overlap",
    "PeopleCalled",
    "Price",
    "Reaction",
    "Report",
    "RepositoryPaused",
    "RepositoryResumed",
    "SessionExited",
    "SessionHandoff",
    "SessionLost",
    "SessionReady",
    "SessionRunning",
    "SessionSpawned",
    "Settings",
    "Strategy",
    "TaskAdded",
    "TaskApproved",
    "TaskAssigned",
    "TaskBlocked",
    "TaskDropped",
    "TaskHeard",
    "TaskLinked",
    "TaskMerged",
    "TaskNoted",
    "TaskQueued",
    "TaskReported",
    "TaskSpec",
    "TaskSplit",
    "TaskStarted",
    "TaskTold",
    "TestsProven",
    "Usage",
    "Verdict",
    "Wait",
    "WorkAccepted",
    "WorkHeld",
    "WorkProven",
    "WorkRebased",
    "WorkRefused",
    "WorkReleased",
    "WorkReviewed",
]
