"""Work that a person took out by a gesture on its pull request, and its way back."""

from typing import Literal

from msgspec import Struct

Gesture = Literal["closed", "branch", "base"]
"""Its pull request was closed, its branch was deleted, or its base was changed."""


class TakenOut(Struct, frozen=True, kw_only=True):
    """What a person did, and to which pull request."""

    gesture: Gesture
    pull: int
    base: str = ""
    """What its base was changed to; empty: it was not."""

    @property
    def why(self) -> str:
        """What the person did, as a clause."""
        match self.gesture:
            case "closed":
                return f"pull request #{self.pull} was closed"
            case "branch":
                return f"the branch of pull request #{self.pull} was deleted"
            case "base":
                base = f"pull request #{self.pull} was changed to {self.base}"
                return f"the base of {base}"

    @property
    def back(self) -> str:
        """What must happen for the work to be taken back: `it waits for …`."""
        match self.gesture:
            case "closed":
                return f"pull request #{self.pull} to be reopened, or /brat merge there"
            case "branch":
                pull = f"pull request #{self.pull}"
                return f"a person to restore the branch of {pull} and reopen it"
            case "base":
                return f"a person to change the base of pull request #{self.pull} back"
