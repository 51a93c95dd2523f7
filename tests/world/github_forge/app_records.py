"""Apps, and where they are installed."""

from brat.forge.resources.account_resource import Permissions, Record


class App(Record, frozen=True, kw_only=True):
    """A GitHub App; only the public half of its key is here."""

    slug: str
    owner: int
    bot: int
    """The account that it acts as."""
    client_id: str
    public_key: str
    """PEM."""
    permissions: Permissions
    events: tuple[str, ...]
    created_at: str
    secret_digest: str = ""
    """Of the client secret; empty: nobody signs in with it."""
    callbacks: tuple[str, ...] = ()
    """Where people may be sent back to who sign in."""


class Installation(Record, frozen=True, kw_only=True):
    """What one account lets an App do in some of its repositories."""

    app: int
    owner: int
    repos: tuple[int, ...]
    permissions: Permissions
    created_at: str
    updated_at: str
    suspended_at: str | None = None
