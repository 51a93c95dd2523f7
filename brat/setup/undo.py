"""What `brat setup --undo` takes back: steps that look for what setup made.

Each is a step as those of setup are, so they are shown, done and read back in the same
way. What people made or changed stays. What tells one from the other is the log key's
environment: it goes after all that it tells of.
https://docs.github.com/rest/deployments/environments#delete-an-environment
https://docs.github.com/rest/git/refs#delete-a-reference
"""

from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from bot.forge.payloads import Payload
from bot.forge.pulls import PullRequests
from bot.forge.rest import Unless
from bot.serving.examination import text_at
from brat.repository.workflow_files import FOLDER, compare, needed
from brat.setup.secret_steps import (
    ENVIRONMENT,
    SECRET,
    SIGNERS,
    Environment,
    EnvironmentStep,
    LogKeyStep,
    Pattern,
    Stored,
)
from brat.setup.steps import (
    BRANCH,
    CI,
    LABEL,
    NEW_LABEL,
    OPENED,
    READY,
    Announced,
    Look,
    Place,
    PullRequestStep,
    Setting,
    Step,
    Variable,
    for_a_person,
    owed,
    wanted,
)
from grite.errors import BratError
from grite.signatures import SIGNERS_FILE


class _IssueUndo(Step):
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


class _Ref(Payload):
    ref: str


class _PullUndo(Step):
    page = "pulls"
    by_hand = f"close the pull request from {BRANCH} and delete that branch"

    async def look(self) -> Look:
        number, is_there = await self._open(), await self._has_branch()
        if number is None and not is_there:
            return wanted(f"there is no open pull request from {BRANCH}")
        closed = f"close pull request #{number} and " if number is not None else ""
        return owed(f"{closed}delete the branch {BRANCH}")

    async def do(self) -> None:
        if (number := await self._open()) is not None:
            closed = {"state": "closed"}
            await self._rest.write("PATCH", f"{self._repo}/pulls/{number}", closed)
        if await self._has_branch():
            await self._rest.write("DELETE", f"{self._repo}/git/refs/heads/{BRANCH}")

    async def _open(self) -> int | None:
        pulls = PullRequests(self._rest, self._place.origin.repository)
        known = await pulls.of(BRANCH, self._place.branch)
        return known.number if known is not None and known.state == "open" else None

    async def _has_branch(self) -> bool:
        url = f"{self._repo}/git/matching-refs/heads/{BRANCH}"
        names = [each.ref async for each in self._rest.each(_Ref, url)]
        return f"refs/heads/{BRANCH}" in names


class _Label(Payload):
    color: str
    description: str | None = None


class _LabelUndo(Step):
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


class _PullRequestUndo(Setting):
    by_hand = (
        "stop allowing GitHub Actions to create and approve pull requests under "
        "Settings, Actions, General (administrators only)"
    )
    name = PullRequestStep.name
    value: str | bool = False
    there = "jobs may not open pull requests"
    make = (
        "tighten: stop allowing GitHub Actions to create and approve pull requests; "
        "this also affects your other workflows (tokens stay read-only by default)"
    )


class _CiUndo(Step):
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
        await self._variable.remove()


class _SignersUndo(_CiUndo):
    name = SIGNERS

    async def look(self) -> Look:
        names = await LogKeyStep(self._place).names()
        told = await self._variable.value()
        if not told:
            return wanted(f"there is no variable {SIGNERS}")
        if SECRET not in names:
            return wanted(f"the variable {SIGNERS} stays: there is no secret {SECRET}")
        if len(told.splitlines()) > 1:
            return for_a_person(
                f"remove the line with brat's key from the variable {SIGNERS}; brat "
                "setup did not add the other lines"
            )
        return owed(
            f"delete the variable {SIGNERS}: logs signed with this key will no longer "
            "be trusted"
        )


def planned_engine_key(there: Sequence[Stored], known: Environment | None) -> Look:
    """Return what is taken back; a secret older than the environment stays.

    Setup makes the environment first, and stores a key only where there was none.
    """
    if not there:
        return wanted("there is no secret with an engine's key")
    if made := ", ".join(engine_keys(there, known)):
        return owed(f"delete the secret {made}; your other workflows lose it too")
    names = ", ".join(each.name for each in there)
    return wanted(f"the secret {names} stays: brat setup may not have stored it")


def engine_keys(there: Sequence[Stored], known: Environment | None) -> list[str]:
    """Return the secrets that came with the environment or after it."""
    since = known.created_at if known else None
    return [
        each.name
        for each in there
        if since and each.created_at and each.created_at >= since
    ]


class _EngineKeyUndo(Step):
    page = "settings/secrets/actions"
    by_hand = "delete the secret with the engine's key"

    async def look(self) -> Look:
        return planned_engine_key(*await self._found())

    async def do(self) -> None:
        for name in engine_keys(*await self._found()):
            await self._rest.write("DELETE", f"{self._repo}/actions/secrets/{name}")

    async def _found(self) -> tuple[list[Stored], Environment | None]:
        url = f"{self._repo}/actions/secrets?per_page=100"
        listed = self._rest.each(Stored, url, "secrets")
        there = [each async for each in listed if each.name in self._place.keys]
        return there, (await EnvironmentStep(self._place).known())[0]


def planned_environment_undo(
    known: Environment | None,
    patterns: Sequence[Pattern],
    secrets: frozenset[str],
    branch: str,
) -> Look:
    """Return what is taken back; an environment with more than setup's own stays."""
    if known is None:
        return wanted(f"there is no environment {ENVIRONMENT}")
    rule = known.deployment_branch_policy
    others = [one for one in known.protection_rules if one["type"] != "branch_policy"]
    if (
        rule is not None
        and rule.custom_branch_policies
        and not others
        and {(one.name, one.type) for one in patterns} <= {(branch, "branch")}
        and secrets <= {SECRET}
    ):
        return owed(
            f"delete the environment {ENVIRONMENT} with its branch rule and its secret "
            f"{SECRET}; no other copy of this secret exists"
        )
    if SECRET in secrets:
        return for_a_person(
            f"delete the secret {SECRET} from the environment {ENVIRONMENT}, but keep "
            "its other rules and secrets, which brat setup did not create"
        )
    return wanted(f"the environment {ENVIRONMENT} stays: brat setup did not create it")


class _EnvironmentUndo(Step):
    page = "settings/environments"
    by_hand = (
        f"delete the environment {ENVIRONMENT} under Settings, Environments "
        "(administrators only)"
    )

    async def look(self) -> Look:
        known, patterns = await EnvironmentStep(self._place).known()
        secrets = await LogKeyStep(self._place).names()
        return planned_environment_undo(known, patterns, secrets, self._place.branch)

    async def do(self) -> None:
        for step in (_EngineKeyUndo(self._place), _SignersUndo(self._place)):
            if (look := await step.look()).state == "owed":
                raise BratError(
                    f"the environment shows what brat setup stored; first {look.said}"
                )
        await self._rest.write("DELETE", f"{self._repo}/environments/{ENVIRONMENT}")


class _MergedUndo(Step):
    """Names what has been merged; a person deletes it by a commit."""

    by_hand = "delete brat's workflow files"

    async def look(self) -> Look:
        names = needed(self._place.checkout)
        there = [
            path
            for path in (*(f"{FOLDER}/{name}" for name in names), SIGNERS_FILE)
            if await text_at(self._rest, self._place.origin.repository, path)
            is not None
        ]
        branch = self._place.branch
        if not there or there == [SIGNERS_FILE]:
            return wanted(f"{branch} contains none of brat's workflow files")
        return for_a_person(f"delete the merged files on {branch}: {', '.join(there)}")


class _LocalUndo(Step):
    async def look(self) -> Look:
        there = ", ".join(self._ours())
        if not there:
            return wanted(f"{FOLDER} contains no files from brat setup")
        return owed(f"delete {there} in {FOLDER}")

    async def do(self) -> None:
        for name in self._ours():
            (self._place.checkout.top / FOLDER / name).unlink()

    def _ours(self) -> list[str]:
        """Return what is as setup writes it; what people changed stays."""
        checkout = self._place.checkout
        found = compare(checkout, needed(checkout))
        return [each.name for each in found if each.is_ours]


ENDS: Final = (
    "everything that brat setup did has been undone",
    "there was nothing to undo; nothing was changed",
)


def undo_steps(place: Place) -> tuple[Step, ...]:
    return (
        _IssueUndo(place),
        _PullUndo(place),
        _EngineKeyUndo(place),
        _SignersUndo(place),
        _EnvironmentUndo(place),
        _CiUndo(place),
        _LabelUndo(place),
        _PullRequestUndo(place),
        _LocalUndo(place) if place.choices.local else _MergedUndo(place),
    )
