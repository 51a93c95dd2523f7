"""What a step of `brat setup` is, and the steps that keep no secret.

A step says what there is, what is owed, and how it is done. These are the label that
asks for a convoy, the rights of workflow jobs' tokens, whether a workflow judges what
brat builds and brat knows which one, and the image where agents work.
https://docs.github.com/rest/issues/labels
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/actions/variables
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from http import HTTPStatus
from typing import Final, Literal

from msgspec import Struct

from bot.forge.payloads import Payload, Told
from bot.forge.rest import Rest, Unless
from bot.forge.workflows import ci_start, dispatch_fault, judging_files, lack_of_ci
from brat.repository.checkout import Checkout
from brat.repository.remote_forge import Origin
from brat.repository.workflow_files import default_branch, own
from convoy.config import Config
from convoy.model.engine_types import ENGINE_TYPES
from grite.errors import BratError

BRANCH: Final = "brat-setup"
"""The branch of the pull request that proposes files."""
State = Literal["wanted", "owed", "by hand"]


class Look(Struct, frozen=True):
    state: State
    said: str
    """What is there; of what is owed: what would be done."""


AskKey = Callable[[str], str] | None
"""Returns what a person types for a key, unseen, or ""; None: nobody can be asked."""


@dataclass(frozen=True, kw_only=True)
class Place:
    rest: Rest
    origin: Origin
    token: str = field(repr=False)
    branch: str
    """The repository's default branch."""
    checkout: Checkout
    config: Config
    ci: str
    """The workflow file that judges; empty: the only one that can."""
    ask: AskKey

    @property
    def repo(self) -> str:
        """The path of the repository's REST API."""
        return f"/repos/{self.origin.repository}"

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of keys of which the configured engines look for one."""
        used = self.config.settings().engines.values()
        known = (spec.keys for spec in used if spec.type in ENGINE_TYPES)
        return tuple(dict.fromkeys(key for keys in known for key in keys))


class Step(ABC):
    """One thing that a repository needs.

    Both methods raise `Refused` where the token may not, and `Unavailable` where the
    forge does not answer.
    """

    page = ""
    """The page of the repository's settings where a person does it, below its own."""
    by_hand = ""
    """What a person does where the token may not."""

    def __init__(self, place: Place) -> None:
        self._place = place
        self._rest, self._repo = place.rest, place.repo

    @abstractmethod
    async def look(self) -> Look:
        """Return how things are now; nothing is changed."""

    async def do(self) -> None:  # noqa: B027  a step may have nothing to do
        """Do what is owed, if that is not a person's; safe to call again."""


wanted: Final = partial(Look, "wanted")
"""Returns that nothing is left to do."""
owed: Final = partial(Look, "owed")
"""Returns what would be done."""
for_a_person: Final = partial(Look, "by hand")
"""Returns what only a person can do or decide."""


class _Known(Payload):
    value: str


class Variable:
    def __init__(self, place: Place, name: str) -> None:
        self._rest, self._name = place.rest, name
        self._all = f"{place.repo}/actions/variables"

    async def value(self) -> str:
        """Return its value without blanks around it; empty: there is none."""
        return (await self._known() or "").strip()

    async def put(self, value: str) -> None:
        """Give it a value; safe to call again."""
        asked = {"name": self._name, "value": value}
        if await self._known() is None:
            await self._rest.write("POST", self._all, asked)
        else:
            await self._rest.write("PATCH", f"{self._all}/{self._name}", asked)

    async def _known(self) -> str | None:
        with Unless(HTTPStatus.NOT_FOUND):
            return (await self._rest.read(_Known, f"{self._all}/{self._name}")).value
        return None


LABEL: Final = "brat"
NEW_LABEL: Final = {
    "name": LABEL,
    "color": "5319e7",
    "description": "Coding agents work on this issue",
}


class LabelStep(Step):
    """Makes the label; one that is there stays as it is."""

    page = "labels"
    by_hand = f"create the label {LABEL} under Issues, Labels"

    async def look(self) -> Look:
        with Unless(HTTPStatus.NOT_FOUND):
            await self._rest.get(f"{self._repo}/labels/{LABEL}")
            return wanted(f"the label {LABEL} exists")
        return owed(f"create the label {LABEL}")

    async def do(self) -> None:
        await self._rest.write("POST", f"{self._repo}/labels", NEW_LABEL)


class _Label(Payload):
    color: str
    description: str | None = None


class LabelUndo(Step):
    page = "labels"
    by_hand = f"delete the label {LABEL} under Issues, Labels"

    async def look(self) -> Look:
        """Compare the label; one that people made or changed stays."""
        known = None
        with Unless(HTTPStatus.NOT_FOUND):
            known = await self._rest.read(_Label, f"{self._repo}/labels/{LABEL}")
        if known is None:
            return wanted(f"there is no label {LABEL}")
        made = (NEW_LABEL["color"], NEW_LABEL["description"])
        if (known.color, known.description) != made:
            return wanted(
                f"the label {LABEL} stays: it differs from what brat setup creates"
            )
        return owed(f"delete the label {LABEL} and remove it from all issues")

    async def do(self) -> None:
        await self._rest.write("DELETE", f"{self._repo}/labels/{LABEL}")


_WORKFLOW_SETTINGS: Final = "actions/permissions/workflow"


class Jobs(Payload):
    can_approve_pull_request_reviews: bool
    default_workflow_permissions: str = ""


class Setting(Step):
    """One of the settings, read and written alone; the other one is sent as it is."""

    page = "settings/actions"
    name: str
    value: str | bool
    there: str
    """What is said where it has that value."""
    make: str

    async def look(self) -> Look:
        known = (await self._known())[self.name]
        return wanted(self.there) if known == self.value else owed(self.make)

    async def do(self) -> None:
        known = await self._known()
        url = f"{self._repo}/{_WORKFLOW_SETTINGS}"
        await self._rest.write("PUT", url, known | {self.name: self.value})

    async def _known(self) -> dict[str, object]:
        url = f"{self._repo}/{_WORKFLOW_SETTINGS}"
        return (await self._rest.read(Jobs, url)).model_dump()


class DefaultTokenStep(Setting):
    """Lets a job's token only read, unless its workflow says more."""

    by_hand = (
        "choose read permissions for workflows under Settings, Actions, General "
        "(administrators only)"
    )
    name = "default_workflow_permissions"
    value: str | bool = "read"
    there = "by default a job's token is read-only"
    make = (
        "tighten: make a job's token read-only by default (CI runs code that agents "
        "write)"
    )


class PullRequestStep(Setting):
    by_hand = (
        "allow GitHub Actions to create and approve pull requests under Settings, "
        "Actions, General (administrators only)"
    )
    name = "can_approve_pull_request_reviews"
    value: str | bool = True
    there = "jobs may open pull requests"
    make = (
        "LOOSEN: allow GitHub Actions to create and approve pull requests (not needed "
        "if you use your own App)"
    )


class PullRequestUndo(PullRequestStep):
    by_hand = (
        "stop allowing GitHub Actions to create and approve pull requests under "
        "Settings, Actions, General (administrators only)"
    )
    value: str | bool = False
    there = "jobs may not open pull requests"
    make = (
        "tighten: stop allowing GitHub Actions to create and approve pull requests; "
        "this also affects your other workflows (tokens stay read-only by default)"
    )


READY: Final = "brat is ready"
OPENED: Final = "`brat setup` opened this issue."
_SMOKE_TEST: Final = f"""\
{OPENED} Once its pull request is merged, an agent does the one \
task below, and brat reports here. Remove the label if you do not want this.

- [ ] Fix one spelling mistake or unclear sentence in the README. If there is no \
README, write one sentence in README.md that says what this project does.
"""


_NEWEST: Final = 100


class Announced(Told):
    """An issue that may be the one that setup opened."""

    author_association: str = ""

    @property
    def is_ours(self) -> bool:
        """Whether somebody of the project opened it: anybody may write its title."""
        return self.title == READY and self.author_association in _OURS


_OURS: Final = ("OWNER", "MEMBER", "COLLABORATOR")
"""https://docs.github.com/graphql/reference/enums#commentauthorassociation"""


class ReadyStep(Step):
    """Opens the issue of the first task; it waits until the files are merged."""

    page = "issues/new"
    by_hand = f"after the merge, open an issue with one task and the label {LABEL}"

    def __init__(self, place: Place, files: Step) -> None:
        super().__init__(place)
        self._files, self._url = files, f"{self._repo}/issues"

    async def look(self) -> Look:
        """Look among the newest issues; where the files are there, none is owed."""
        if (await self._files.look()).state == "wanted":
            return wanted("brat is already set up: label an issue to start")
        newest = await self._rest.first(Announced, f"{self._url}?state=all", _NEWEST)
        if any(each.is_ours for each in newest):
            return wanted(f'the issue "{READY}" exists and awaits the merge')
        return owed(f'open the issue "{READY}": one small task, as a smoke test')

    async def do(self) -> None:
        if (await self._files.look()).state == "owed":
            raise BratError("the pull request does not exist yet")
        asked = {"title": READY, "body": _SMOKE_TEST, "labels": [LABEL]}
        await self._rest.write("POST", self._url, asked)


class IssueUndo(Step):
    page = "issues"
    by_hand = f'close the issue "{READY}"'

    async def look(self) -> Look:
        numbers = await self._numbers()
        if not numbers:
            return wanted(f'there is no open issue "{READY}"')
        return owed(f'close the issue "{READY}", #{numbers[0]}')

    async def do(self) -> None:
        closed = {"state": "closed", "state_reason": "not_planned"}
        for number in await self._numbers():
            await self._rest.write("PATCH", f"{self._repo}/issues/{number}", closed)

    async def _numbers(self) -> list[int]:
        url = f"{self._repo}/issues?state=open&per_page=100"
        listed = self._rest.each(Announced, url)
        return [
            each.number
            async for each in listed
            if each.is_ours
            and (each.body or "").startswith(OPENED)
            and each.pull_request is None
        ]


CI: Final = "BRAT_CI_WORKFLOW"
APP: Final = "BRAT_APP_ID"


def planned_ci(
    files: dict[str, str],
    named: str,
    asked: str,
    target: str,
    *,
    is_app: bool,
    command: str = "",
) -> Look:
    """Return what is owed of CI, by the repository's own workflow files.

    `named` is the file that the variable names, `asked` the one that the person names,
    `target` the branch that convoys land on, `command` what tests the project where no
    file can be started.
    """
    dispatched = judging_files(files, "dispatch")
    lack = lack_of_ci(files, by_job=not is_app, target=target)
    if is_app:
        return (
            for_a_person(f"{lack[0]}: {lack[1]}")
            if lack
            else wanted("your CI runs when brat's App pushes a candidate")
        )
    chosen = asked or named or _only(dispatched)
    if not chosen:
        start = ci_start(files, "", command)
        if start.file:
            return wanted(f"brat starts {start.file} on each candidate")
        if start.command:
            return wanted(
                f"brat tests each candidate with {start.command}, in a separate job"
            )
        if lack:
            return for_a_person(f"{lack[0]}: {lack[1]}")
        return for_a_person(
            "run `brat setup --ci FILE` with the workflow that tests candidates: "
            f"one of {', '.join(dispatched)}"
        )
    if fault := dispatch_fault(files, chosen):
        return for_a_person(fault)
    if chosen == named:
        return wanted(f"brat starts {chosen} on each candidate")
    return owed(f"set the variable {CI} so that brat starts {chosen} on each candidate")


class CiStep(Step):
    """Reads the workflows in the checkout; people write their own CI."""

    page = "settings/variables/actions"
    by_hand = f"set the variable {CI} to the filename of your CI workflow"

    async def look(self) -> Look:
        """Read the triggers of each workflow, and what the variables say."""
        place, checkout = self._place, self._place.checkout
        if not place.config.settings().require_ci:
            return wanted("your configuration does not require CI")
        is_app = bool(await Variable(place, APP).value())
        named = await Variable(place, CI).value()
        files, target = own(checkout), default_branch(checkout)
        found = checkout.propose_ci()
        command = place.config.ci.typed or (found.command if found else "")
        return planned_ci(
            files, named, place.ci, target, is_app=is_app, command=command
        )

    async def do(self) -> None:
        ways = judging_files(own(self._place.checkout), "dispatch")
        await Variable(self._place, CI).put(self._place.ci or _only(ways))


class CiUndo(Step):
    page = "settings/variables/actions"
    name = CI

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._variable = Variable(place, self.name)
        self.by_hand = f"delete the variable {self.name}"

    async def look(self) -> Look:
        if not await self._variable.value():
            return wanted(f"there is no variable {self.name}")
        return owed(self.by_hand)

    async def do(self) -> None:
        url = f"{self._repo}/actions/variables/{self.name}"
        await self._rest.write("DELETE", url)


def _only(names: tuple[str, ...]) -> str:
    """Return the one name; empty: there is a choice."""
    return names[0] if len(names) == 1 else ""


CONTAINER: Final = "BRAT_CONTAINER"
_PINNED: Final = re.compile(r"[a-z0-9][\w.:/-]*@sha256:[0-9a-f]{64}", re.ASCII)


def planned_container(image: str, engine: str) -> Look:
    if _PINNED.fullmatch(image):
        return wanted(f"agents run in {image.partition('@')[0]}, pinned by its digest")
    if image:
        return for_a_person(
            f"pin the image in {CONTAINER} by its digest, as NAME@sha256:...; "
            f"otherwise {image} may change from one task to the next"
        )
    with_it = f", and each job installs {engine}" if engine else ""
    return wanted(f"agents run directly on the job's machine{with_it}")


class ContainerStep(Step):
    """Reads the variable; people build and push the image."""

    page = "settings/variables/actions"
    by_hand = f"set the variable {CONTAINER} to an image pinned by its digest"

    async def look(self) -> Look:
        image = await Variable(self._place, CONTAINER).value()
        used = (spec.type for spec in self._place.config.settings().engines.values())
        known = (each for each in used if each in ENGINE_TYPES)
        held = (each for each in known if ENGINE_TYPES[each].keys)  # by brat's images
        return planned_container(image, next(held, ""))
