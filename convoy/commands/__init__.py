"""What the shell asks the rules: imperatives, with all outside facts on them."""

from convoy.commands.convoys import (
    ApprovePlan,
    CallPeople,
    FailConvoy,
    PauseConvoy,
    PlanConvoy,
    RankConvoy,
    RequestConvoy,
    ResumeConvoy,
)
from convoy.commands.merges import (
    AttemptMerge,
    FailMerge,
    HoldWork,
    LandMerge,
    RebaseWork,
    ReleaseWork,
    RequestMerge,
    WithdrawMerge,
)
from convoy.commands.repository import (
    Answer,
    ExpireLease,
    FreeLease,
    NoteDone,
    PauseAll,
    RenewLease,
    ResumeAll,
    StartBot,
    TakeLease,
)
from convoy.commands.sessions import (
    AcceptNothing,
    AcceptReport,
    AcceptReview,
    AcceptWork,
    LoseSession,
    MakeChoice,
    ProveRival,
    ProveTests,
    RefuseWork,
)
from convoy.commands.tasks import (
    AddTask,
    ApproveWork,
    AssignTask,
    BeginSplit,
    BlockTask,
    DeferTask,
    DropTask,
    LinkTask,
    NoteHeard,
    NoteTask,
    RetryTask,
    ReviseTask,
    SplitTask,
    StartPlanning,
    StartTask,
    TellTask,
    VoidApproval,
)

Command = (
    StartBot
    | RequestConvoy
    | PlanConvoy
    | ApprovePlan
    | ApproveWork
    | VoidApproval
    | RankConvoy
    | FailConvoy
    | PauseAll
    | ResumeAll
    | PauseConvoy
    | ResumeConvoy
    | StartTask
    | StartPlanning
    | BlockTask
    | BeginSplit
    | SplitTask
    | DeferTask
    | CallPeople
    | RetryTask
    | ReviseTask
    | TellTask
    | NoteHeard
    | AddTask
    | LinkTask
    | AssignTask
    | DropTask
    | NoteTask
    | AcceptWork
    | AcceptNothing
    | AcceptReport
    | AcceptReview
    | ProveTests
    | ProveRival
    | MakeChoice
    | RefuseWork
    | LoseSession
    | AttemptMerge
    | FailMerge
    | LandMerge
    | WithdrawMerge
    | RequestMerge
    | RebaseWork
    | HoldWork
    | ReleaseWork
    | Answer
    | NoteDone
    | TakeLease
    | RenewLease
    | FreeLease
    | ExpireLease
)

__all__ = [
    "AcceptNothing",
    "AcceptReport",
    "AcceptReview",
    "AcceptWork",
    "AddTask",
    "Answer",
    "ApprovePlan",
    "ApproveWork",
    "AssignTask",
    "AttemptMerge",
    "BeginSplit",
    "BlockTask",
    "CallPeople",
    "Command",
    "DeferTask",
    "DropTask",
    "ExpireLease",
    "FailConvoy",
    "FailMerge",
    "FreeLease",
    "HoldWork",
    "LandMerge",
    "LinkTask",
    "LoseSession",
    "MakeChoice",
    "NoteDone",
    "NoteHeard",
    "NoteTask",
    "PauseAll",
    "PauseConvoy",
    "PlanConvoy",
    "ProveRival",
    "ProveTests",
    "RankConvoy",
    "RebaseWork",
    "RefuseWork",
    "ReleaseWork",
    "RenewLease",
    "RequestConvoy",
    "RequestMerge",
    "ResumeAll",
    "ResumeConvoy",
    "RetryTask",
    "ReviseTask",
    "SplitTask",
    "StartBot",
    "StartPlanning",
    "StartTask",
    "TakeLease",
    "TellTask",
    "VoidApproval",
    "WithdrawMerge",
]
