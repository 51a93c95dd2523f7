"""What a client shows the forge to be let in."""

from typing import Protocol


class Tokens(Protocol):
    """A source of one credential that may change as time goes on."""

    async def token(self) -> str:
        """Return a token that is good now.

        Raises:
            Unavailable: it had to be asked for, and nobody answered.
            Refused: it had to be asked for, and the forge said no.
        """
        ...

    def spoiled(self, token: str) -> bool:
        """Hear that the forge did not take `token`; say whether to ask with another."""
        ...


class StaticToken:
    """One token that never changes."""

    def __init__(self, token: str) -> None:
        self._token = token

    async def token(self) -> str:
        """Return the token."""
        return self._token

    def spoiled(self, token: str) -> bool:  # noqa: ARG002  there is only one
        """Say no: there is no other."""
        return False
