"""What CI said against a task's work, as long as nobody is blamed for it."""

from msgspec import Struct


class Doubt(Struct, frozen=True, kw_only=True):
    """Work that CI found red, or ended without a verdict on."""

    work: str
    """The work it is about; newer work is not doubted."""
    candidate: str = ""
    """The candidate that CI judged last."""
    base: str = ""
    """What the candidate stood on that was red last; empty: none was red."""
    reds: int = 0
    """How often CI found the work red, whatever it stood on."""
    times: int = 0
    """How often in a row it was red on that base: the same files each time, alone or
    with others on top."""
    landed: int = 0
    """How many of the tasks that may bring what it lacks had landed by then."""
    synced: str = ""
    """The commit by which the branch had taken its target in last by then."""
    is_again: bool = False
    """Whether its agent has had earlier work back, because CI was red on it."""
    lost: int = 0
    """How often in a row CI ended without a verdict on it."""
    checks: tuple[str, ...] = ()
    """The checks that were red last."""
    why: str = ""
    """The end of CI's text."""
    judged: int = 0
    """How many candidates of the work CI has judged so: each is a commit of its own."""

    @property
    def is_open(self) -> bool:
        """Whether the work was red and has not been green since."""
        return self.base != ""
