"""Whether a workflow of the repository can judge what brat builds."""

from brat.repository.checkout import Checkout
from brat.repository.workflow_files import NAMES, ci_lack
from brat.setup.step import Look, for_a_person, wanted


class CiStep:
    """Reads the workflows in the checkout; people write their own CI."""

    by_hand = ""

    def __init__(self, checkout: Checkout, *, required: bool) -> None:
        """Read nothing yet; `required` is `[refinery] require_ci`."""
        self._checkout, self._required = checkout, required

    async def look(self) -> Look:
        """Read the triggers of each workflow."""
        if not self._required:
            return wanted("no CI is required")
        lack = ci_lack(self._checkout, NAMES)
        if lack is None:
            return wanted("a workflow here can judge what brat builds")
        return for_a_person(f"{lack[0]}: {lack[1]}")

    async def do(self) -> None:
        """Change nothing."""
