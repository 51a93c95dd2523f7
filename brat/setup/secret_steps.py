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
from functools import partial
from http import HTTPStatus
from typing import Final

from msgspec.structs import replace
from nacl.public import PublicKey, SealedBox

from bot.forge.github_actions import secret_names
from bot.forge.payloads import Moment, Payload
from bot.forge.rest import Json, Rest, Unless
from bot.serving.examination import text_at
from bot.settings import bot_folder
from brat.setup.steps import Look, Place, Variable, for_a_person, owed, step, wanted
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


_KEY_BY_HAND: Final = (
    "store the engine's key: gh secret set {0.key} --repo {0.origin.repository}, or "
    "set {0.key} here and try again"
)


@step("settings/secrets/actions", _KEY_BY_HAND)
async def engine_key(place: Place) -> Look:
    """Look for an engine's key among the secrets; store the person's own."""
    if not place.keys:
        return wanted("the engine needs no key, as far as brat knows")
    names = await secret_names(place.rest, place.origin.repository)
    there = sorted((names or frozenset()) & set(place.keys))
    if there:
        return wanted(f"the secret {there[0]} exists")
    by_hand = _KEY_BY_HAND.format(place)
    if names is None:
        return for_a_person(f"{by_hand} (the token cannot list secrets)")
    secrets = f"{place.repo}/actions/secrets"
    have = os.environ  # noqa: TID251  a person's own terminal
    if mine := next((each for each in place.keys if have.get(each)), ""):
        store = partial(store_secret, place.rest, secrets, mine, have[mine])
        said = f"store your {mine} from this terminal as a secret for agents"
        return owed(said, store)
    if (ask := place.ask) is None:
        return for_a_person(by_hand)

    async def store_typed() -> None:
        if not (value := ask(place.key).strip()):
            raise BratError("no key was entered")
        await store_secret(place.rest, secrets, place.key, value)

    return owed(f"ask for your {place.key}, and store it as a secret", store_typed)


ENVIRONMENT: Final = "brat"


def _environment(place: Place) -> str:
    return f"{place.repo}/environments/{ENVIRONMENT}"


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


async def _known(place: Place) -> tuple[Environment | None, list[Pattern]]:
    """Return the environment, if it is there, and its patterns."""
    known = None
    url = f"{place.repo}/environments?per_page=100"
    listed = place.rest.each(Environment, url, "environments")
    with Unless(HTTPStatus.NOT_FOUND):
        async for each in listed:
            known = each if each.name == ENVIRONMENT else known
    rule = known.deployment_branch_policy if known else None
    if rule is None or not rule.custom_branch_policies:
        return known, []
    url = f"{_environment(place)}/deployment-branch-policies?per_page=100"
    return known, await place.rest.all(Pattern, url, "branch_policies")


_ONLY_BY_HAND: Final = (
    f"let only the branch {{0.branch}} use the environment {ENVIRONMENT}, "
    "under Settings, Environments (administrators only)"
)


@step("settings/environments", _ONLY_BY_HAND)
async def environment(place: Place) -> Look:
    """Compare the environment; people's own rules are never replaced."""
    (known, patterns), branch = await _known(place), place.branch
    rule = known.deployment_branch_policy if known else None
    is_ours = (
        rule.custom_branch_policies if rule else not (known and known.protection_rules)
    )
    allowed = [(one.name, one.type) for one in patterns]
    if is_ours and allowed == [(branch, "branch")]:
        only = f"only the branch {branch} may use the environment {ENVIRONMENT}"
        return wanted(only)
    if allowed or not is_ours:
        return for_a_person(_ONLY_BY_HAND.format(place))

    async def make() -> None:
        if rule is None:
            own = {"protected_branches": False, "custom_branch_policies": True}
            asked = {"deployment_branch_policy": own}
            await place.rest.write("PUT", _environment(place), asked)
        url = f"{_environment(place)}/deployment-branch-policies"
        await place.rest.write("POST", url, {"name": branch, "type": "branch"})

    where = f"the environment {ENVIRONMENT} (the log's key)"
    return owed(f"let only the branch {branch} use {where}", make)


SECRET: Final = "BRAT_LOG_KEY"  # noqa: S105  a name
SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"


class Stored(Payload):
    """A secret of a repository or of an environment; its value is never shown."""

    name: str
    created_at: Moment | None = None


async def _kept(place: Place) -> frozenset[str]:
    """Return the names of the environment's secrets; it may not be there yet."""
    url = f"{_environment(place)}/secrets?per_page=100"
    with Unless(HTTPStatus.NOT_FOUND):
        listed = await place.rest.all(Stored, url, "secrets")
        return frozenset(each.name for each in listed)
    return frozenset()


@step(
    "settings/environments",
    'ssh-keygen -t ed25519 -N "" -C brat -f log_key; store log_key as the secret '
    f"{SECRET} of the environment {ENVIRONMENT}, and set the variable {SIGNERS} to "
    "one line: brat, then the text of log_key.pub (administrators only)",
)
async def log_key(place: Place) -> Look:
    """Make the key; one that is there stays."""
    signers = Variable(place, SIGNERS)
    told, names = await signers.value(), await _kept(place)
    file = await text_at(place.rest, place.origin.repository, SIGNERS_FILE)
    try:
        parse_signers(told)
    except BratError as error:
        return for_a_person(f"fix the variable {SIGNERS}: {error}")
    if SECRET in names and (told or file is not None):
        return wanted(f"the secret {SECRET} exists, and jobs know its public key")
    if SECRET in names:
        return for_a_person(
            f"tell jobs which key may sign: set the variable {SIGNERS} to the public "
            f"half of {SECRET}, or remove that secret and try again to create a new key"
        )

    async def make() -> None:
        """The public half comes first, and lines that are there stay."""
        if (guard := await environment.look(place)).state != "wanted":
            raise BratError(f"other branches could read the key; first {guard.said}")
        pair = bot_folder.new_log_key()
        await signers.put("\n".join((*told.splitlines(), pair.line.strip())))
        secrets = f"{_environment(place)}/secrets"
        await store_secret(place.rest, secrets, SECRET, pair.private)

    return owed(
        "create the key that signs the log; store its private half in the "
        f"secret {SECRET} of the environment {ENVIRONMENT}, and its public "
        f"half in the variable {SIGNERS}",
        make,
    )


@step("settings/variables/actions", f"delete the variable {SIGNERS}")
async def signers_undo(place: Place) -> Look:
    variable = Variable(place, SIGNERS)
    told, names = await variable.value(), await _kept(place)
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
        "be trusted",
        variable.delete,
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


@step("settings/secrets/actions", "delete the secret with the engine's key")
async def engine_key_undo(place: Place) -> Look:
    url = f"{place.repo}/actions/secrets"
    listed = await place.rest.all(Stored, f"{url}?per_page=100", "secrets")
    there = [each for each in listed if each.name in place.keys]
    known, _ = await _known(place)

    async def delete() -> None:
        for name in engine_keys(there, known):
            await place.rest.write("DELETE", f"{url}/{name}")

    return replace(planned_engine_key(there, known), do=delete)


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


@step(
    "settings/environments",
    f"delete the environment {ENVIRONMENT} under Settings, Environments "
    "(administrators only)",
)
async def environment_undo(place: Place) -> Look:
    async def delete() -> None:
        for each in (engine_key_undo, signers_undo):
            if (first := await each.look(place)).state == "owed":
                raise BratError(
                    f"the environment shows what brat setup stored; first {first.said}"
                )
        await place.rest.write("DELETE", _environment(place))

    known, patterns = await _known(place)
    secrets = await _kept(place)
    look = planned_environment_undo(known, patterns, secrets, place.branch)
    return replace(look, do=delete)
