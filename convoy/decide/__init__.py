"""`decide(State, Command) -> events or Refusal`: may this happen?

Every rule that keeps a promise stands here: nothing starts before what it needs, an
attempt ends once, only the current candidate lands, and what was announced is noted
done once. A refusal is a value: a repeated or late command is no error.
"""

from collections.abc import Callable
from typing import Any, Final

from convoy import commands
from convoy.commands import Command
from convoy.decide import (
    actions,
    approvals,
    calls,
    choices,
    convoys,
    edits,
    everything,
    holds,
    leases,
    merges,
    notes,
    planning,
    reviews,
    sessions,
    splits,
    tasks,
)
from convoy.decide.verdict import Decision, Refusal
from convoy.state import State

__all__ = ["Decision", "Refusal", "decide"]

_RULES: Final[dict[type[Command], Callable[[State, Any], Decision]]] = {
    commands.StartBot: convoys.start_bot,
    commands.RequestConvoy: convoys.request,
    commands.PlanConvoy: convoys.plan,
    commands.ApprovePlan: approvals.plan,
    commands.ApproveWork: approvals.work,
    commands.VoidApproval: approvals.void,
    commands.RankConvoy: edits.rank,
    commands.FailConvoy: convoys.fail,
    commands.PauseAll: everything.pause,
    commands.ResumeAll: everything.resume,
    commands.PauseConvoy: convoys.pause,
    commands.ResumeConvoy: convoys.resume,
    commands.StartTask: tasks.start,
    commands.StartPlanning: planning.start,
    commands.BlockTask: tasks.block,
    commands.BeginSplit: splits.begin,
    commands.SplitTask: splits.accept,
    commands.DeferTask: tasks.defer,
    commands.CallPeople: calls.call,
    commands.RetryTask: tasks.retry,
    commands.ReviseTask: holds.revise,
    commands.TellTask: edits.tell,
    commands.NoteHeard: edits.hear,
    commands.AddTask: edits.add,
    commands.LinkTask: edits.link,
    commands.AssignTask: edits.assign,
    commands.DropTask: tasks.drop,
    commands.NoteTask: notes.note,
    commands.AcceptWork: sessions.accept,
    commands.AcceptNothing: sessions.accept_nothing,
    commands.AcceptReport: sessions.accept_report,
    commands.AcceptReview: reviews.accept,
    commands.ProveTests: merges.prove,
    commands.ProveRival: merges.prove_rival,
    commands.MakeChoice: choices.make,
    commands.RefuseWork: sessions.refuse,
    commands.LoseSession: sessions.lose,
    commands.AttemptMerge: merges.attempt,
    commands.FailMerge: merges.fail,
    commands.LandMerge: merges.land,
    commands.WithdrawMerge: holds.withdraw,
    commands.RequestMerge: holds.request,
    commands.RebaseWork: holds.rebase,
    commands.HoldWork: holds.hold,
    commands.ReleaseWork: holds.release,
    commands.Answer: actions.answer,
    commands.NoteDone: actions.note_done,
    commands.TakeLease: leases.take,
    commands.RenewLease: leases.renew,
    commands.FreeLease: leases.free,
    commands.ExpireLease: leases.expire,
}


def decide(state: State, command: Command) -> Decision:
    """Return the events `command` leads to in `state`, or why it may not happen."""
    return _RULES[type(command)](state, command)
