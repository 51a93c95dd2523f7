"""What the forge remembers, one frozen struct a thing.

A record is replaced, never changed, and written through by `store.Store`. Ids are
unique over the whole forge; times are ISO 8601 in UTC. Commits, branches and files are
not here: they are in the bare repositories and always read from there.
"""

from brat.forge.records.accounts import ROLES, Kind, Role, Scope, Token, User
from brat.forge.records.apps import Access, App, Installation, Permissions
from brat.forge.records.checks import (
    CheckRun,
    CommitStatus,
    Conclusion,
    Job,
    Output,
    Progress,
)
from brat.forge.records.hooks import Delivery, Hook, Payload
from brat.forge.records.issues import (
    Comment,
    Issue,
    IssueEvent,
    Label,
    Pull,
    Reaction,
    Review,
)
from brat.forge.records.record import Record, Sequence
from brat.forge.records.repositories import Ci, Repository, Settings
from brat.forge.records.runs import Artifact, Run

__all__ = [
    "ROLES",
    "Access",
    "App",
    "Artifact",
    "CheckRun",
    "Ci",
    "Comment",
    "CommitStatus",
    "Conclusion",
    "Delivery",
    "Hook",
    "Installation",
    "Issue",
    "IssueEvent",
    "Job",
    "Kind",
    "Label",
    "Output",
    "Payload",
    "Permissions",
    "Progress",
    "Pull",
    "Reaction",
    "Record",
    "Repository",
    "Review",
    "Role",
    "Run",
    "Scope",
    "Sequence",
    "Settings",
    "Token",
    "User",
]
