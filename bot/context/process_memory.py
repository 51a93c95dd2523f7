"""A bot process's memory beside the log. It may be lost."""

from dataclasses import dataclass, field
from datetime import datetime

from bot.context.answer_budget import AnswerBudget
from bot.context.item_failures import Failures
from bot.context.overlapping_looks import Looks
from bot.context.recent_comments import RecentComments
from convoy.views.interventions import LabelledIssue


@dataclass(frozen=True)
class Delay:
    """How often a notification failed, and when it may be tried again."""

    tries: int
    next_at: int
    """Unix ms."""
    why: str = ""


@dataclass(kw_only=True)
class ProcessMemory:
    """Everything announced, tried, seen and shown since the process began."""

    fresh: set[str] = field(default_factory=set)
    """Keys of actions that this process announced and has not tried yet. For all others
    the forge is first searched for an earlier try's result."""
    tried: dict[str, int] = field(default_factory=dict)
    """When each action without a certain outcome was tried, unix ms."""
    shown: dict[str, object] = field(default_factory=dict)
    """What the forge was last seen to show, so that nothing is written twice."""
    unticked: dict[int, set[str]] = field(default_factory=dict)
    """By comment, the boxes whose ticks were handled: they are shown empty again."""
    ticks: dict[tuple[int, str], int] = field(default_factory=dict)
    """When each unhandled tick, by comment and box, was first seen; unix ms."""
    delays: dict[str, Delay] = field(default_factory=dict)
    """By key, the notifications that failed so far, and when the next try is."""
    comments: Looks | None = None
    """The looks for comments; None: there was none yet."""
    issues: Looks | None = None
    """The looks for issues; None: there was none yet."""
    assigned: dict[int, datetime] = field(default_factory=dict)
    """By issue found lately, when it was last assigned to the bot, as it was seen."""
    acknowledged: RecentComments = field(default_factory=RecentComments)
    """The comments to which this process has reacted with eyes."""
    unread: dict[int, LabelledIssue] = field(default_factory=dict)
    """The issues that asked for a convoy at the last look, by number."""
    labelled: dict[str, int] = field(default_factory=dict)
    """By key in `shown`, when labels were last set, unix ms."""
    failures: Failures = field(default_factory=Failures)
    answers: AnswerBudget = field(default_factory=AnswerBudget)
    """The answers that people had within the last hour."""
    configured: tuple[str, int] | None = None
    """The default branch's tip and the file's time (unix ns; 0: none is used) when the
    configuration was last compared."""
    rules_read: dict[str, int] = field(default_factory=dict)
    """When each target's rules were last read, unix ms."""
    given_up: dict[str, int] = field(default_factory=dict)
    """The candidates that were given up while CI judged them, and until when (unix ms)
    a first run of theirs may show; each stays until its runs have ended."""
    is_closing: bool = False
    """Whether the process is about to end: it only takes in what sessions have done."""
    ended: dict[int, int] = field(default_factory=dict)
    """When each run was first seen to have ended, unix ms."""
