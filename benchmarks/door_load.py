"""`python -m benchmarks.door_load LOAD`: deliveries as GitHub sends them, and when.

With `per_second` each is sent when it is due, whatever became of those before; without
it `at_once` are always under way.
"""

import asyncio
import hashlib
import hmac
import json
import sys
import uuid
from dataclasses import dataclass
from statistics import quantiles
from time import monotonic

import aiohttp

PATH = "/webhooks/github"
CONNECTIONS = 200
"""What waits for one is late, and counts as late."""
TEXT = "- [ ] Say what is wrong, and where (paths: src/)\n" * 40
PERSON = {
    "login": "ann",
    "id": 7,
    "type": "User",
    **{
        f"{name}_url": f"https://api.github.com/users/ann/{name}" for name in "abcdefgh"
    },
}


@dataclass(frozen=True, kw_only=True)
class Load:
    """What is sent."""

    port: int
    secret: str
    count: int
    per_second: int = 0
    at_once: int = 0


@dataclass(frozen=True, kw_only=True)
class Result:
    """What it took."""

    seconds: float
    p50_ms: float
    p99_ms: float


def body_of(number: int) -> bytes:
    """Return the payload of a labelled issue, of the size that GitHub's have."""
    told = {
        "action": "labeled",
        "issue": {
            "number": number + 1,
            "title": "Fix it",
            "body": TEXT,
            "state": "open",
            "user": PERSON,
            "labels": [{"id": 1, "name": "brat", "color": "d73a4a"}],
        },
        "label": {"id": 1, "name": "brat", "color": "d73a4a"},
        "sender": PERSON,
        "repository": {
            "id": 1,
            "full_name": "octo/project",
            "owner": PERSON,
            **{
                f"{name}_url": f"https://api.github.com/repos/octo/project/{name}"
                for name in ("archive", "assignees", "blobs", "branches", "commits")
            },
        },
        "installation": {"id": 1},
    }
    return json.dumps(told).encode()


class Sender:
    """Sends, and notes how long each took."""

    def __init__(self, load: Load, session: aiohttp.ClientSession) -> None:
        self._load = load
        self._session = session
        self._url = f"http://127.0.0.1:{load.port}{PATH}"
        self.took: list[float] = []

    async def send(self, number: int, due: float) -> None:
        """Send one delivery that was due at `due`."""
        body = body_of(number)
        mac = hmac.new(self._load.secret.encode(), body, hashlib.sha256).hexdigest()
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/x",
            "X-GitHub-Event": "issues",
            "X-GitHub-Delivery": str(uuid.uuid4()),
            "X-Hub-Signature-256": f"sha256={mac}",
        }
        async with self._session.post(self._url, data=body, headers=headers) as answer:
            await answer.read()
            assert answer.status in {200, 202}, answer.status
        self.took.append(monotonic() - due)

    async def paced(self) -> None:
        """Send each when it is due."""
        begun = monotonic()
        async with asyncio.TaskGroup() as group:
            for number in range(self._load.count):
                due = begun + number / self._load.per_second
                await asyncio.sleep(max(due - monotonic(), 0))
                group.create_task(self.send(number, due))

    async def crowded(self) -> None:
        """Keep so many under way."""
        numbers = iter(range(self._load.count))

        async def one_after_another() -> None:
            for number in numbers:
                await self.send(number, monotonic())

        async with asyncio.TaskGroup() as group:
            for _ in range(self._load.at_once):
                group.create_task(one_after_another())


async def run(load: Load) -> Result:
    """Send it all and return what it took."""
    connector = aiohttp.TCPConnector(limit=CONNECTIONS)
    async with aiohttp.ClientSession(connector=connector) as session:
        sender = Sender(load, session)
        begun = monotonic()
        await (sender.paced() if load.per_second else sender.crowded())
        seconds = monotonic() - begun
    cuts = quantiles(sender.took, n=100)
    return Result(
        seconds=round(seconds, 3),
        p50_ms=round(cuts[49] * 1000, 2),
        p99_ms=round(cuts[98] * 1000, 2),
    )


if __name__ == "__main__":
    loaded = Load(**json.loads(sys.argv[1]))
    print(json.dumps(asyncio.run(run(loaded)).__dict__))
