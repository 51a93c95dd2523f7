"""The steps of `brat setup` that keep a secret: the engine's key, and the log's.

A secret is sealed so that only the forge can read it, and names alone can be read back.
The engine's key comes from the terminal's own environment. The private half of the
log's key is made here and kept nowhere else; a variable tells jobs whose word counts.
Only the default branch may use the environment that has it.
https://docs.github.com/rest/guides/encrypting-secrets-for-the-rest-api
https://docs.github.com/rest/deployments/environments
https://docs.github.com/rest/deployments/branch-policies

What setup stored is told from people's own by the environment, which setup makes first.
"""

import base64
import os
from collections.abc import Sequence
from http import HTTPStatus
from typing import Final

from nacl.public import PublicKey, SealedBox

from bot.forge.github_actions import secret_names
from bot.forge.payloads import Moment, Payload
from bot.forge.rest import Json, Rest, Unless
from bot.serving.examination import text_at
from bot.settings import bot_folder
from brat.setup import steps
from brat.setup.steps import Look, Place, Step, Variable, for_a_person, owed, wanted
from grite.errors import BratError
from grite.signatures import SIGNERS_FILE, parse_signers


class _Key(Payload):
    key_id: str
    key: str


async def store_secret(rest: Rest, secrets: str, name: str, value: str) -> None:
    """Store a secret; one of that name is replaced."""
    key = await rest.read(_Key, f"{secrets}/public-key")
    box = SealedBox(PublicKey(base64.b64decode(key.key)))
    sealed = base64.b64encode(box.encrypt(value.encode())).decode()
    asked = {"encrypted_value": sealed, "key_id": key.key_id}
    await rest.write("PUT", f"{secrets}/{name}", asked)


class EngineKeyStep(Step):
    """Looks for an engine's key among the secrets, and stores the person's own."""

    page = "settings/secrets/actions"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._keys, self._ask = place.keys, place.ask
        key, repository = "".join(self._keys[:1]), place.origin.repository
        self.by_hand = (
            f"store the engine's key: gh secret set {key} --repo {repository}, or set "
            f"{key} here and try again"
        )

    async def look(self) -> Look:
        if not self._keys:
            return wanted("the engine needs no key, as far as brat knows")
        names = await secret_names(self._rest, self._place.origin.repository)
        there = sorted((names or frozenset()) & set(self._keys))
        if there:
            return wanted(f"the secret {there[0]} exists")
        if names is None:
            unseen = " (the token cannot list secrets)"
            return for_a_person(f"{self.by_hand}{unseen}")
        if mine := self._mine():
            return owed(f"store your {mine} from this terminal as a secret for agents")
        if self._ask is not None:
            return owed(f"ask for your {self._keys[0]}, and store it as a secret")
        return for_a_person(self.by_hand)

    async def do(self) -> None:
        url = f"{self._repo}/actions/secrets"
        name = self._mine() or self._keys[0]
        value = os.environ.get(name, "")  # noqa: TID251  a person's own terminal
        if not value and self._ask is not None:
            value = self._ask(name).strip()
        if not value:
            raise BratError("no key was entered")
        await store_secret(self._rest, url, name, value)

    def _mine(self) -> str:
        """Return the name of the key that this terminal has; empty: none."""
        environment = os.environ  # noqa: TID251  a person's own terminal
        return next((each for each in self._keys if environment.get(each)), "")


ENVIRONMENT: Final = "brat"


class _Policy(Payload):
    custom_branch_policies: bool


class Environment(Payload):
    name: str
    created_at: Moment | None = None
    protection_rules: tuple[Json, ...] = ()
    deployment_branch_policy: _Policy | None = None


class Pattern(Payload):
    name: str
    type: str = "branch"


class EnvironmentStep(Step):
    """Makes the environment, and limits it to the default branch."""

    page = "settings/environments"

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._one = f"{self._repo}/environments/{ENVIRONMENT}"
        self._patterns = f"{self._one}/deployment-branch-policies"
        self.by_hand = (
            f"let only the branch {place.branch} use the environment {ENVIRONMENT}, "
            "under Settings, Environments (administrators only)"
        )

    async def look(self) -> Look:
        """Compare the environment; people's own rules are never replaced."""
        (known, patterns), branch = await self.known(), self._place.branch
        where = f"the environment {ENVIRONMENT} (the log's key)"
        make = f"let only the branch {branch} use {where}"
        if known is None:
            return owed(make)
        if known.deployment_branch_policy is None:
            return for_a_person(self.by_hand) if known.protection_rules else owed(make)
        if not known.deployment_branch_policy.custom_branch_policies:
            return for_a_person(self.by_hand)
        if not patterns:
            return owed(make)
        if [(one.name, one.type) for one in patterns] == [(branch, "branch")]:
            only = f"only the branch {branch} may use the environment {ENVIRONMENT}"
            return wanted(only)
        return for_a_person(self.by_hand)

    async def do(self) -> None:
        known, _ = await self.known()
        if known is None or known.deployment_branch_policy is None:
            rule = {"protected_branches": False, "custom_branch_policies": True}
            asked = {"deployment_branch_policy": rule}
            await self._rest.write("PUT", self._one, asked)
        asked_branch = {"name": self._place.branch, "type": "branch"}
        await self._rest.write("POST", self._patterns, asked_branch)

    async def known(self) -> tuple[Environment | None, list[Pattern]]:
        """Return the environment, if it is there, and its patterns."""
        known = None
        url = f"{self._repo}/environments?per_page=100"
        listed = self._rest.each(Environment, url, "environments")
        with Unless(HTTPStatus.NOT_FOUND):
            async for each in listed:
                known = each if each.name == ENVIRONMENT else known
        rule = known.deployment_branch_policy if known else None
        if rule is None or not rule.custom_branch_policies:
            return known, []
        url = f"{self._patterns}?per_page=100"
        more = self._rest.each(Pattern, url, "branch_policies")
        return known, [one async for one in more]


SECRET: Final = "BRAT_LOG_KEY"  # noqa: S105  a name
SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"


class Stored(Payload):
    """A secret of a repository or of an environment; its value is never shown."""

    name: str
    created_at: Moment | None = None


class LogKeyStep(Step):
    """Makes the key; one that is there stays."""

    page = "settings/environments"
    by_hand = (
        'ssh-keygen -t ed25519 -N "" -C brat -f log_key; store log_key as the secret '
        f"{SECRET} of the environment {ENVIRONMENT}, and set the variable {SIGNERS} to "
        "one line: brat, then the text of log_key.pub (administrators only)"
    )

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._secrets = f"{self._repo}/environments/{ENVIRONMENT}/secrets"
        self._signers = Variable(place, SIGNERS)

    async def look(self) -> Look:
        told, names = await self._signers.value(), await self.names()
        file = await text_at(self._rest, self._place.origin.repository, SIGNERS_FILE)
        try:
            parse_signers(told)
        except BratError as error:
            return for_a_person(f"fix the variable {SIGNERS}: {error}")
        if SECRET not in names:
            return owed(
                "create the key that signs the log; store its private half in the "
                f"secret {SECRET} of the environment {ENVIRONMENT}, and its public "
                f"half in the variable {SIGNERS}"
            )
        if told or file is not None:
            return wanted(f"the secret {SECRET} exists, and jobs know its public key")
        return for_a_person(
            f"tell jobs which key may sign: set the variable {SIGNERS} to the public "
            "half of "
            f"{SECRET}, or remove that secret and try again to create a new key"
        )

    async def do(self) -> None:
        """Make a key; its public half comes first, and lines that are there stay."""
        if (guard := await EnvironmentStep(self._place).look()).state != "wanted":
            raise BratError(f"other branches could read the key; first {guard.said}")
        pair = bot_folder.new_log_key()
        lines = [*(await self._signers.value()).splitlines(), pair.line.strip()]
        await self._signers.put("\n".join(lines))
        await store_secret(self._rest, self._secrets, SECRET, pair.private)

    async def names(self) -> frozenset[str]:
        """Return the names of the environment's secrets; it may not be there yet."""
        listed = self._rest.each(Stored, f"{self._secrets}?per_page=100", "secrets")
        with Unless(HTTPStatus.NOT_FOUND):
            return frozenset([each.name async for each in listed])
        return frozenset()


class SignersUndo(steps.CiUndo):
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


class EngineKeyUndo(Step):
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


class EnvironmentUndo(Step):
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
        for step in (EngineKeyUndo(self._place), SignersUndo(self._place)):
            if (look := await step.look()).state == "owed":
                raise BratError(
                    f"the environment shows what brat setup stored; first {look.said}"
                )
        await self._rest.write("DELETE", f"{self._repo}/environments/{ENVIRONMENT}")
