"""What a forge shows of a repository to whoever asks over REST, after all is over."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from msgspec import Struct, json

from brat.local import forge_process
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER
from convoy.model import ids
from tests.contract.openapi import github
from tests.world.patience import patient
from tests.world.second_reader import git
from tests.world.traffic import Exchange

Json = Any
DEADLINE_S = patient(20)


class Seen(Struct, frozen=True, kw_only=True):
    """One repository, as the forge's REST API shows it."""

    repository: str
    """Path of the bare repository."""
    branch: str
    issue: Json
    issue_events: Json
    pulls: Json
    """Every pull request in full, oldest first."""
    comments: dict[str, Json]
    """By the number of the issue or pull request."""
    checks: dict[str, Json]
    """What CI said of each commit that any branch or log entry names as landed; without
    the checks by which the bot shows what becomes of a commit."""
    faults: list[str]
    """What went against GitHub's contract while we looked."""

    @property
    def path(self) -> Path:
        """The bare repository."""
        return Path(self.repository)

    def git(self, *args: str) -> str:
        """Ask the repository with plain git."""
        return git(self.path, *args).decode().strip()

    def ancestors(self) -> set[str]:
        """Return every commit of the default branch."""
        return set(self.git("rev-list", self.branch).split())

    def refs(self, prefix: str) -> list[str]:
        return self.git("for-each-ref", "--format=%(refname)", prefix).split()


def look(folder: Path) -> Seen:
    """Start the forge of brat's folder again, look at everything, and stop it.

    Raises `Unavailable`: it did not start.
    """
    known = registrations.read(folder)
    record, log = folder / "looked.jsonl", folder / "looked.log"
    options = ("--record", str(record), "--extend", "sessions")
    with (
        forge_process.forge(
            folder / FORGE_FOLDER,
            0,
            *options,
            log=log,
            program="tests.world.github_forge",
        ) as (url, _),
        httpx.Client(
            base_url=f"{url}/api/v3/repos/{known.repository}",
            headers={"Authorization": f"Bearer {known.person_token}"},
            timeout=DEADLINE_S,
            trust_env=False,
        ) as client,
    ):
        listed = _all(client, "issues", state="all")
        numbers = sorted(one["number"] for one in listed)
        pulls = sorted(one["number"] for one in listed if "pull_request" in one)
        issue = min(set(numbers) - set(pulls))
        bare = registrations.bare_path(folder, known)
        commits = git(bare, "rev-list", "--branches").decode().split()
        return Seen(
            repository=str(bare),
            branch=known.branch,
            issue=_one(client, f"issues/{issue}"),
            issue_events=_all(client, f"issues/{issue}/events"),
            pulls=[_one(client, f"pulls/{number}") for number in pulls],
            comments={
                str(number): _all(client, f"issues/{number}/comments")
                for number in numbers
            },
            checks={
                commit: [
                    check
                    for check in _one(client, f"commits/{commit}/check-runs")[
                        "check_runs"
                    ]
                    if not ids.is_check_key(check["external_id"])
                ]
                for commit in commits
            },
            faults=list(contract_faults(record)),
        )


def exchanges(record: Path) -> list[Exchange]:
    lines = record.read_bytes().splitlines()
    return [json.decode(line, type=Exchange) for line in lines]


def contract_faults(record: Path) -> Iterator[str]:
    """Give what was asked or answered against GitHub's own description."""
    for exchange in exchanges(record):
        yield from github().faults(exchange)
        if exchange.status >= 500:
            yield f"{exchange.method} {exchange.path} ended with {exchange.status}"


def _one(client: httpx.Client, path: str) -> Json:
    answer = client.get(path)
    answer.raise_for_status()
    return answer.json()


def _all(client: httpx.Client, path: str, **query: str) -> list[Json]:
    answer = client.get(path, params=query | {"per_page": "100"})
    answer.raise_for_status()
    assert "next" not in answer.links, "more than a page"
    return list(answer.json())
