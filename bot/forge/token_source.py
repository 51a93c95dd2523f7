"""Gives a client its token for the forge."""

from typing import Protocol


class Tokens(Protocol):
    """A source of one credential that may change over time."""

    async def token(self) -> str:
        """Return a token that is valid now.

        Raises:
            Unavailable: a new token is needed, and the forge did not answer.
            Refused: a new token is needed, and the forge refused it.
        """
        ...

    def spoiled(self, token: str) -> bool:
        """Note that the forge rejected `token`; return whether to try another."""
        ...


class StaticToken:
    """One token that never changes."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        """Return the token."""
        return self._token

    def spoiled(self, token: str) -> bool:  # noqa: ARG002  there is only one
        """Return False: there is no other token."""
        return False
