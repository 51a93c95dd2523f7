"""Whether a workflow judges what brat builds, and brat knows which one."""

from typing import Final

from bot.forge.rest import Rest
from bot.forge.workflows import dispatch_fault, judging_files, lack_of_ci
from brat.repository.checkout import Checkout
from brat.repository.workflow_files import default_branch, own
from brat.setup.step import Look, for_a_person, owed, wanted
from brat.setup.variable import Variable

CI: Final = "BRAT_CI_WORKFLOW"
APP: Final = "BRAT_APP_ID"


def planned(
    files: dict[str, str], named: str, asked: str, target: str, *, is_app: bool
) -> Look:
    """Return what is owed of CI.

    Args:
        files: the repository's own workflow files, by name.
        named: the one that the variable names; empty: none.
        asked: the one that the person names; empty: none.
        target: the branch that convoys land on.
        is_app: whether brat pushes as an App.
    """
    if missing := lack_of_ci(files, by_job=not is_app, target=target):
        return for_a_person(f"{missing[0]}: {missing[1]}")
    if is_app:
        return wanted("the pushes of brat's App start CI")
    chosen = asked or named or _only(judging_files(files, "dispatch"))
    if not chosen:
        listed = ", ".join(judging_files(files, "dispatch"))
        return for_a_person(
            f"type `brat setup --ci FILE` with the workflow that judges what brat "
            f"builds, one of {listed}"
        )
    if fault := dispatch_fault(files, chosen):
        return for_a_person(fault)
    if chosen == named:
        return wanted(f"brat starts {chosen} on each candidate")
    return owed(f"let brat start {chosen} on each candidate: the variable {CI}")


class CiStep:
    """Reads the workflows in the checkout; people write their own CI."""

    by_hand = f"set the variable {CI} to the file of your CI"

    def __init__(
        self,
        rest: Rest,
        repository: str,
        checkout: Checkout,
        *,
        required: bool,
        asked: str,
    ) -> None:
        """Read nothing yet.

        Args:
            rest: a client with the person's token.
            repository: its full name.
            checkout: a clone of it.
            required: `[refinery] require_ci`.
            asked: the workflow file that the person names; empty: none.
        """
        self._checkout, self._required, self._asked = checkout, required, asked
        self._named = Variable(rest, repository, CI)
        self._app = Variable(rest, repository, APP)

    async def look(self) -> Look:
        """Read the triggers of each workflow, and what the variables say."""
        if not self._required:
            return wanted("no CI is required")
        is_app, named = bool(await self._app.value()), await self._named.value()
        files, target = own(self._checkout), default_branch(self._checkout)
        return planned(files, named, self._asked, target, is_app=is_app)

    async def do(self) -> None:
        """Name the workflow."""
        ways = judging_files(own(self._checkout), "dispatch")
        await self._named.put(self._asked or _only(ways))


def _only(names: tuple[str, ...]) -> str:
    """Return the one name; empty: there is a choice."""
    return names[0] if len(names) == 1 else ""
