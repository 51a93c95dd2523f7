"""How a bot is let into its repository: tokens, pace, and the repository's identity."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial

import httpx

from bot.forge.github import GitHub, RepositoryIdentity, repository_id_of
from bot.forge.github_actions import SECRETS_RIGHT
from bot.forge.pace import Pace, pacing
from bot.forge.rest import StaticToken, Tokens
from bot.settings import bot_folder
from bot.settings.bot_settings import Settings


async def identified(github: GitHub, settings: Settings) -> RepositoryIdentity:
    """Return the repository that is served, to which the folder's state belongs.

    Raises:
        AnotherRepository: the name stands for another repository than the settings say.
        BratError: the folder holds the state of another repository.
        Unavailable: the forge did not answer.
        Refused: the forge does not show the repository.
    """
    known = settings.repository_id
    identity = RepositoryIdentity(
        github=github, number=known or await repository_id_of(github)
    )
    if known:
        await identity.confirm()
    bot_folder.claim_folder(settings.folder, settings.repository, identity.number)
    return identity


def from_threads(identity: RepositoryIdentity) -> Callable[[], None]:
    """Return a call of `confirm` for other threads than the event loop's."""
    here = asyncio.get_running_loop()
    return lambda: asyncio.run_coroutine_threadsafe(identity.confirm(), here).result()


@dataclass(frozen=True, kw_only=True)
class WayIn:
    """The bot's tokens for the forge, and its pace."""

    tokens: Tokens
    onlooker: Tokens
    """Tokens for listing the names of secrets, where the bot may do that."""
    pace: Pace
    tie: Callable[[int], None] = lambda _: None
    """Makes later tokens open the repository with this id alone."""
    login: str | None = None
    """The App's account: unlike other accounts, an App cannot ask for its own."""


@asynccontextmanager
async def let_in(
    client: httpx.AsyncClient, settings: Settings, pace: Pace | None
) -> AsyncIterator[WayIn]:
    """Give the tokens; an App's are revoked at the end.

    Args:
        client: reaches the forge.
        settings: the bot's settings.
        pace: the pace shared with the installation's other repositories; None: its own.

    Raises:
        Unavailable: the forge did not answer.
        Refused: the forge does not accept the App's id and key.
        BratError: the App's private key cannot be read.
    """
    how = pacing(settings.gap_s, of_a_job=settings.by_job)
    if settings.app_id is None or settings.private_key_file is None:
        own_token = StaticToken(settings.token)
        yield WayIn(tokens=own_token, onlooker=own_token, pace=pace or Pace(how))
        return
    # Cryptography is slow to load, and a bot with a token does not need it.
    from bot.forge.app_auth import AppTokens, Grant
    from bot.serving.installations import key_of

    grant = Grant(
        repository=settings.repository,
        repository_id=settings.repository_id,
        installation=settings.installation,
    )
    source = partial(
        AppTokens,
        client,
        api_url=settings.api_url,
        app=key_of(settings.app_id, settings.private_key_file),
    )
    async with (
        source(grant=grant) as tokens,
        source(grant=replace(grant, permissions=SECRETS_RIGHT)) as onlooker,
    ):
        own, login = pace or Pace(how, clock=tokens.clock), await tokens.login()

        def tie(number: int) -> None:
            tokens.tie(number)
            onlooker.tie(number)

        yield WayIn(tokens=tokens, onlooker=onlooker, pace=own, login=login, tie=tie)
