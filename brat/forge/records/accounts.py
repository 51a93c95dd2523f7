"""Who there is, and what they show and may do."""

from typing import Literal

from brat.forge.records.apps import Access
from brat.forge.records.record import Record

Role = Literal["none", "read", "triage", "write", "maintain", "admin"]
ROLES: tuple[Role, ...] = ("none", "read", "triage", "write", "maintain", "admin")
"""Rising: each role may do what those before it may."""

Scope = Literal["read", "write"]
Kind = Literal["User", "Bot"]


class User(Record, frozen=True, kw_only=True):
    """An account; `slug[bot]` is a bot's login."""

    login: str
    kind: Kind
    created_at: str


class Token(Record, frozen=True, kw_only=True):
    """What a caller shows; only its digest is kept."""

    user: int
    scope: Scope
    digest: str
    """SHA-256 of the secret, hex."""
    repo: int | None = None
    """The one repository it opens; None: all that its user may see."""
    access: Access | None = None
    """Set when it is an installation's."""
