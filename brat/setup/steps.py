"""What a step of `brat setup` is, and the steps that keep no secret.

A step says what there is, what is owed, and how it is done. These are the label that
asks for a convoy, the rights of workflow jobs' tokens, whether a workflow judges what
brat builds and brat knows which one, and the image where agents work. What takes one
back is a step, too, beside it.
https://docs.github.com/rest/issues/labels
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/actions/variables
"""

import re
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import partial
from http import HTTPStatus
from typing import Final, Literal

from msgspec import Struct

from bot.forge.payloads import Payload, Told
from bot.forge.rest import Rest, Unless
from bot.forge.workflows import ci_start, dispatch_fault, judging_files, lack_of_ci
from bot.serving.examination import LABEL_COLOUR, ActionsPolicy, JobSettings
from brat.repository.checkout import Checkout
from brat.repository.remote_forge import Origin
from brat.repository.workflow_files import (
    FOLDER,
    UPLOAD,
    default_branch,
    installed_from,
    needed,
    own,
)
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
    do: Callable[[], Awaitable[object]] | None = None
    """Does what is owed; safe to call again."""


wanted: Final = partial(Look, "wanted")
"""Returns that nothing is left to do."""
owed: Final = partial(Look, "owed")
"""Returns what would be done."""
for_a_person: Final = partial(Look, "by hand")
"""Returns what only a person can do or decide."""
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
    files: "Step"
    """The one that sees to the workflow files."""

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

    @property
    def key(self) -> str:
        """The first of them; empty: there is none."""
        return "".join(self.keys[:1])


Looks = Callable[[Place], Awaitable[Look]]
"""Returns how things are now; nothing is changed.

Raises `Refused` where the token may not, and `Unavailable` where the forge does not
answer, as what it returns to be done does.
"""


@dataclass(frozen=True)
class Step:
    """One thing that a repository needs."""

    look: Looks
    page: str
    """The page of the repository's settings where a person does it, below its own."""
    _by_hand: str

    def by_hand(self, place: Place) -> str:
        """Return what a person does where the token may not."""
        return self._by_hand.format(place)


def step(page: str, by_hand: str) -> Callable[[Looks], Step]:
    """Make a step of what looks; `{0}` in the words for a person is the place."""
    return lambda look: Step(look, page, by_hand)


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

    async def delete(self) -> None:
        await self._rest.write("DELETE", f"{self._all}/{self._name}")

    async def _known(self) -> str | None:
        with Unless(HTTPStatus.NOT_FOUND):
            return (await self._rest.read(_Known, f"{self._all}/{self._name}")).value
        return None


LABEL: Final = "brat"
NEW_LABEL: Final = {
    "name": LABEL,
    "color": LABEL_COLOUR,
    "description": "Coding agents work on this issue",
}


class _Label(Payload):
    color: str
    description: str | None = None


async def _known_label(place: Place) -> _Label | None:
    with Unless(HTTPStatus.NOT_FOUND):
        return await place.rest.read(_Label, f"{place.repo}/labels/{LABEL}")
    return None


@step("labels", f"create the label {LABEL} under Issues, Labels")
async def label(place: Place) -> Look:
    """One that is there stays as it is."""
    if await _known_label(place):
        return wanted(f"the label {LABEL} exists")
    make = partial(place.rest.write, "POST", f"{place.repo}/labels", NEW_LABEL)
    return owed(f"create the label {LABEL}", make)


@step("labels", f"delete the label {LABEL} under Issues, Labels")
async def label_undo(place: Place) -> Look:
    """One that people made or changed stays."""
    known = await _known_label(place)
    if known is None:
        return wanted(f"there is no label {LABEL}")
    made = (NEW_LABEL["color"], NEW_LABEL["description"])
    if (known.color, known.description) != made:
        return wanted(
            f"the label {LABEL} stays: it differs from what brat setup creates"
        )
    delete = partial(place.rest.write, "DELETE", f"{place.repo}/labels/{LABEL}")
    return owed(f"delete the label {LABEL} and remove it from all issues", delete)


async def _setting(
    place: Place, *, name: str, value: str | bool, there: str, make: str
) -> Look:
    """Compare one of the settings; the other one is sent as it is."""
    url = f"{place.repo}/actions/permissions/workflow"
    known = (await place.rest.read(JobSettings, url)).model_dump()
    if known[name] == value:
        return wanted(there)
    return owed(make, partial(place.rest.write, "PUT", url, known | {name: value}))


_PULLS: Final = "can_approve_pull_request_reviews"
default_token: Final = Step(
    partial(
        _setting,
        name="default_workflow_permissions",
        value="read",
        there="by default a job's token is read-only",
        make="tighten: make a job's token read-only by default (CI runs code that "
        "agents write)",
    ),
    "settings/actions",
    "choose read permissions for workflows under Settings, Actions, General "
    "(administrators only)",
)
"""Lets a job's token only read, unless its workflow says more."""
pull_requests: Final = Step(
    partial(
        _setting,
        name=_PULLS,
        value=True,
        there="jobs may open pull requests",
        make="LOOSEN: allow GitHub Actions to create and approve pull requests (not "
        "needed if you use your own App)",
    ),
    "settings/actions",
    "allow GitHub Actions to create and approve pull requests under Settings, Actions, "
    "General (administrators only)",
)
pull_requests_undo: Final = Step(
    partial(
        _setting,
        name=_PULLS,
        value=False,
        there="jobs may not open pull requests",
        make="tighten: stop allowing GitHub Actions to create and approve pull "
        "requests; this also affects your other workflows (tokens stay read-only by "
        "default)",
    ),
    "settings/actions",
    "stop allowing GitHub Actions to create and approve pull requests under Settings, "
    "Actions, General (administrators only)",
)


CALLED: Final = "brat-jobs.yml"


class Chosen(Payload):
    github_owned_allowed: bool = False
    patterns_allowed: tuple[str, ...] = ()

    def lacks(self, uses: Iterable[str], owner: str) -> list[str]:
        """Return what is not allowed of what workflows in `owner`'s repository use."""
        patterns = [f"{owner}/*", *self.patterns_allowed]
        patterns += ["actions/*"] if self.github_owned_allowed else []
        folded = [pattern.casefold() for pattern in patterns]
        return [
            use
            for use in uses
            if not any(fnmatchcase(use.casefold(), pattern) for pattern in folded)
        ]


@step(
    "settings/actions",
    "let Actions run what brat's workflow files use under Settings, Actions, General "
    "(administrators only)",
)
async def allowed(place: Place) -> Look:
    """GitHub starts no run that uses anything else, and tells nobody on the issue.

    An organisation can choose for its repositories.
    https://docs.github.com/rest/actions/permissions
    """
    url = f"{place.repo}/actions/permissions"
    policy = await place.rest.read(ActionsPolicy, url)
    if not policy.enabled:
        return for_a_person("turn Actions on under Settings, Actions, General")
    uses = [f"{UPLOAD}*"]
    pin, owner = installed_from(), place.origin.repository.partition("/")[0]
    if pin and CALLED not in needed(place.checkout):
        uses.append(f"{'/'.join(pin.source.split('/')[-2:])}/{FOLDER}/{CALLED}@*")
    chosen = Chosen()
    if policy.allowed_actions == "selected":
        chosen = await place.rest.read(Chosen, f"{url}/selected-actions")
    lacking = chosen.lacks(uses, owner) if policy.allowed_actions != "all" else []
    if not lacking:
        return wanted("Actions may run what brat's workflow files use")
    return for_a_person(
        f"allow {' and '.join(lacking)} under Settings, Actions, General, or have the "
        "organisation's owners do so: else GitHub starts no run of brat"
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


@step(
    "issues/new", f"after the merge, open an issue with one task and the label {LABEL}"
)
async def ready(place: Place) -> Look:
    """Look among the newest issues; where the files are there, none is owed.

    The first task's issue waits until the files are merged.
    """
    if (await place.files.look(place)).state == "wanted":
        return wanted("brat is already set up: label an issue to start")
    url = f"{place.repo}/issues"
    newest = await place.rest.first(Announced, f"{url}?state=all", _NEWEST)
    if any(each.is_ours for each in newest):
        return wanted(f'the issue "{READY}" exists and awaits the merge')

    async def open_issue() -> None:
        if (await place.files.look(place)).state == "owed":
            raise BratError("the pull request does not exist yet")
        asked = {"title": READY, "body": _SMOKE_TEST, "labels": [LABEL]}
        await place.rest.write("POST", url, asked)

    return owed(
        f'open the issue "{READY}": one small task, as a smoke test', open_issue
    )


@step("issues", f'close the issue "{READY}"')
async def issue_undo(place: Place) -> Look:
    url = f"{place.repo}/issues"
    listed = place.rest.each(Announced, f"{url}?state=open&per_page=100")
    numbers = [
        each.number
        async for each in listed
        if each.is_ours
        and (each.body or "").startswith(OPENED)
        and each.pull_request is None
    ]
    if not numbers:
        return wanted(f'there is no open issue "{READY}"')

    async def close() -> None:
        closed = {"state": "closed", "state_reason": "not_planned"}
        for number in numbers:
            await place.rest.write("PATCH", f"{url}/{number}", closed)

    return owed(f'close the issue "{READY}", #{numbers[0]}', close)


CI: Final = "BRAT_CI_WORKFLOW"
APP: Final = "BRAT_APP_ID"


@step(
    "settings/variables/actions",
    f"set the variable {CI} to the filename of your CI workflow",
)
async def ci(place: Place) -> Look:
    """Read the workflows in the checkout, and the variables; people write their CI."""
    if not place.config.settings().require_ci:
        return wanted("your configuration does not require CI")
    variable, checkout = Variable(place, CI), place.checkout
    is_app = bool(await Variable(place, APP).value())
    named = await variable.value()
    files, target = own(checkout), default_branch(checkout)
    lack = lack_of_ci(files, by_job=not is_app, target=target)
    without_ci = for_a_person(f"{lack[0]}: {lack[1]}") if lack else None
    if is_app:
        return without_ci or wanted("your CI runs when brat's App pushes a candidate")
    dispatched = judging_files(files, "dispatch")
    only = dispatched[0] if len(dispatched) == 1 else ""
    chosen = place.ci or named or only
    if not chosen:
        found = checkout.propose_ci()
        command = place.config.ci.typed or (found.command if found else "")
        start = ci_start(files, "", command)
        if start.file:
            return wanted(f"brat starts {start.file} on each candidate")
        if start.command:
            return wanted(
                f"brat tests each candidate with {start.command}, in a separate job"
            )
        return without_ci or for_a_person(
            "run `brat setup --ci FILE` with the workflow that tests candidates: "
            f"one of {', '.join(dispatched)}"
        )
    if fault := dispatch_fault(files, chosen):
        return for_a_person(fault)
    if chosen == named:
        return wanted(f"brat starts {chosen} on each candidate")
    said = f"set the variable {CI} so that brat starts {chosen} on each candidate"
    return owed(said, partial(variable.put, chosen))


@step("settings/variables/actions", f"delete the variable {CI}")
async def ci_undo(place: Place) -> Look:
    variable = Variable(place, CI)
    if not await variable.value():
        return wanted(f"there is no variable {CI}")
    return owed(f"delete the variable {CI}", variable.delete)


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


@step(
    "settings/variables/actions",
    f"set the variable {CONTAINER} to an image pinned by its digest",
)
async def container(place: Place) -> Look:
    """Read the variable; people build and push the image."""
    image = await Variable(place, CONTAINER).value()
    used = (spec.type for spec in place.config.settings().engines.values())
    known = (each for each in used if each in ENGINE_TYPES)
    held = (each for each in known if ENGINE_TYPES[each].keys)  # by brat's images
    return planned_container(image, next(held, ""))
