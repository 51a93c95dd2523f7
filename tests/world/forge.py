"""A served forge with people in it; each answer is held against GitHub's contract.

alice owns alice/app, brat[bot] may write to it, carol may triage, mallory may nothing.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci
from brat.forge.rest.rest_call import Extension
from brat.forge.service.run_processes import LIKE_GITHUB, How
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from grite import git
from grite.git import Completed
from tests.contract.openapi import github as contract
from tests.contract.sent_events import SENT
from tests.world.github_forge.extension import github
from tests.world.github_forge.injected_faults import Faults
from tests.world.given_secrets import given
from tests.world.patience import patient
from tests.world.traffic import Exchange, Observer, observed

Json = Any
REPO = "alice/app"
DEADLINE_S = patient(20)
AUTHOR = {
    "GIT_AUTHOR_NAME": "Alice",
    "GIT_AUTHOR_EMAIL": "alice@example.com",
    "GIT_COMMITTER_NAME": "Alice",
    "GIT_COMMITTER_EMAIL": "alice@example.com",
}


def make_source(folder: Path) -> Path:
    """Make a small repository with one commit on main."""
    git.run(["init", "--quiet", "-b", "main", str(folder)])
    (folder / "README.md").write_text("# app\n")
    git.run(["add", "."], cwd=folder)
    git.run(["commit", "--quiet", "-m", "Begin"], cwd=folder, env=AUTHOR)
    return folder


def settle_in(forge: Forge, source: Path) -> dict[str, str]:
    """Put people and alice/app into an empty forge; return tokens by short name."""
    for login in ("alice", "carol", "mallory"):
        forge.add_user(login)
    forge.add_user("brat[bot]", kind="Bot")
    forge.add_repository(REPO, source=source)
    forge.grant(REPO, "brat[bot]", "write")
    forge.grant(REPO, "carol", "triage")
    names = {"alice": "alice", "bot": "brat[bot]", "carol": "carol"}
    tokens = {short: forge.add_token(login) for short, login in names.items()}
    tokens["mallory"] = forge.add_token("mallory")
    tokens["reader"] = forge.add_token("brat[bot]", scope="read")
    return {short: given(token) for short, token in tokens.items()}


class Checkout:
    """A clone in which the test works, over HTTP, with a token."""

    def __init__(self, folder: Path, token: str) -> None:
        self.folder = folder
        self.env = AUTHOR | git.authorization(token)

    async def git(self, *args: str, check: bool = True) -> str:
        return (await self.run(*args, check=check)).stdout.decode().strip()

    async def run(self, *args: str, check: bool = True) -> Completed:
        """Run git in the checkout, beside the event loop that serves it."""
        cwd = self.folder if self.folder.exists() else None
        return await asyncio.to_thread(
            git.run, args, cwd=cwd, env=self.env, check=check, deadline_s=DEADLINE_S
        )

    async def commit(self, name: str, text: str) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        await self.git("add", ".")
        await self.git("commit", "--quiet", "-m", f"Write {name}")
        return await self.git("rev-parse", "HEAD")


@dataclass
class Town:
    """A served forge, as its clients see it."""

    forge: Forge
    url: str
    tokens: dict[str, str]
    client: httpx.AsyncClient
    folder: Path
    checkouts: list[Checkout] = field(default_factory=list)

    @property
    def faults(self) -> Faults:
        """What the forge refuses because the story says so."""
        return Faults(self.forge.folder)

    async def ask(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        by: str = "bot",
        repo: str = REPO,
    ) -> httpx.Response:
        """Call the API; a path without a slash in front is the repository's."""
        full = path if path.startswith("/") else f"/repos/{repo}/{path}".rstrip("/")
        headers = {"Authorization": f"Bearer {self.tokens[by]}"}
        return await self.client.request(
            method, f"{self.url}/api/v3{full}", json=body, headers=headers
        )

    async def press(self, check: int, button: str, *, by: str) -> httpx.Response:
        return await self.client.post(
            f"{self.url}/{REPO}/runs/{check}/press",
            data={"identifier": button},
            headers={"Authorization": f"Bearer {self.tokens[by]}"},
        )

    async def get(self, path: str, *, by: str = "bot") -> Json:
        """GET something that must be there."""
        answer = await self.ask("GET", path, by=by)
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: object = None, *, by: str = "bot") -> Json:
        """POST something that must be taken."""
        answer = await self.ask("POST", path, body, by=by)
        assert answer.status_code in {200, 201, 202, 204}, answer.text
        return answer.json() if answer.content else None

    async def clone(self, by: str = "bot") -> Checkout:
        name = f"checkout-{len(self.checkouts)}"
        checkout = Checkout(self.folder / name, self.tokens[by])
        self.checkouts.append(checkout)
        await checkout.git("clone", "--quiet", self.remote, str(checkout.folder))
        return checkout

    @property
    def remote(self) -> str:
        """Where git finds alice/app."""
        return f"{self.url}/{REPO}.git"

    async def issue(self, title: str = "Fix it", *, by: str = "alice") -> int:
        made = await self.post("issues", {"title": title, "body": "Please."}, by=by)
        return int(made["number"])

    async def pull(self, checkout: Checkout, branch: str = "work") -> Json:
        """Push a branch with one commit and open a pull request for it."""
        await checkout.git("switch", "--quiet", "-c", branch, "origin/main")
        await checkout.commit(f"{branch}.txt", branch)
        await checkout.git("push", "--quiet", "origin", branch)
        body = {"title": f"Do {branch}", "head": branch, "base": "main"}
        return await self.post("pulls", body)

    def judge(self, command: str, **more: Json) -> None:
        self.forge.set_ci(REPO, Ci(command=command, **more))


async def until(
    condition: Callable[[], object], *, deadline_s: float = patient(60)
) -> Json:
    """Ask until the answer is true, and return it; fail after `deadline_s`."""
    async with asyncio.timeout(deadline_s):
        while True:
            answer = condition()
            if isinstance(answer, Awaitable):
                answer = await answer
            if answer:
                return answer
            await asyncio.sleep(0.02)


@contextmanager
def judging(forge: Forge) -> Iterator[Observer]:
    """Give what judges; at the end nothing may have gone against GitHub's contract."""
    faults: list[str] = []
    asked_for = Faults(forge.folder)

    def judge(exchange: Exchange) -> None:
        if exchange.status >= 400 and asked_for.answered(exchange):
            return
        faults.extend(contract().faults(exchange))
        if exchange.status >= 500:
            faults.append(
                f"{exchange.method} {exchange.path} ended with a server error"
            )

    yield judge
    assert not faults, "\n".join(faults)


@asynccontextmanager
async def town(
    forge: Forge,
    tokens: dict[str, str],
    folder: Path,
    *,
    how: How = LIKE_GITHUB,
) -> AsyncIterator[Town]:
    """Serve a forge that keeps GitHub's contract, and sends what its story has."""
    sent: set[str] = set()

    def extended(service: Service) -> Extension:
        service.events.heard_by.append(
            lambda _, __, kind, ___: sent.add(".".join(filter(None, kind)))
        )
        return github(service)

    with judging(forge) as judge:
        async with (
            httpx.AsyncClient(timeout=DEADLINE_S, trust_env=False) as client,
            serving(forge, how=how, extend=observed(judge, extended)) as url,
        ):
            yield Town(forge, url, tokens, client, folder)
    assert sent <= SENT, "a kind of event is sent that test_payloads.py has not"
