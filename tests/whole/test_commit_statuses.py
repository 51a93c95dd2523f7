"""CI that speaks by commit statuses alone judges what lands, as check runs do."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from tests.world.extended import extended
from tests.world.local_rules import ask, at_rest, registered
from tests.world.receiver import Receiver, receiving
from tests.world.terminal import Terminal
from tests.world.words import engine, project, taken

AGENT = 'sed -n "s/.*2 of 9 tests failed.*/told/p" $BRAT_PROMPT > said; echo >> said'
CONFIG = engine(AGENT, '[refinery]\nchecks = ["ci/jenkins"]')
RED = 2
"""How often CI must be red on the same files before their agent hears of it."""
QUEUE = "refs/heads/brat/queue/"
SAID = (("pending", "waits"), ("failure", "2 of 9 tests failed"), ("success", "fine"))


class Jenkins:
    """Hears of pushes, and says something of each candidate: red twice, then green."""

    def __init__(self, terminal: Terminal, receiver: Receiver) -> None:
        self._terminal = terminal
        self._receiver = receiver
        self.judged: list[str] = []

    async def work(self) -> None:
        heard = 0
        while True:
            async with self._receiver.news:
                while len(self._receiver.came) == heard:
                    await self._receiver.news.wait()
            one = self._receiver.came[heard]
            heard += 1
            if one.kind == "push" and one.json["ref"].startswith(QUEUE):
                await self._judge(one.json["after"])

    async def _judge(self, commit: str) -> None:
        if set(commit) == {"0"}:
            return
        self.judged.append(commit)
        states = SAID[:2] if len(self.judged) <= RED else SAID[::2]
        for state, description in states:
            await self._say(commit, "ci/jenkins", state, description)
            await self._say(commit, "ci/nightly", "error", "nobody asked for it")

    async def _say(self, commit: str, context: str, state: str, said: str) -> None:
        body = {"context": context, "state": state, "description": said}
        await asyncio.to_thread(ask, self._terminal, "POST", f"statuses/{commit}", body)


@asynccontextmanager
async def judging(terminal: Terminal) -> AsyncIterator[Jenkins]:
    async with receiving() as receiver:
        with at_rest(terminal) as forge:
            repository = registered(terminal).repository
            forge.add_hook(repository, receiver.url, "made-up-secret")
        jenkins = Jenkins(terminal, receiver)
        work = asyncio.create_task(jenkins.work())
        try:
            yield jenkins
        finally:
            work.cancel()
            with suppress(asyncio.CancelledError):
                await work


async def test_statuses_send_work_back_and_let_it_land(tmp_path: Path) -> None:
    terminal = extended(project(tmp_path, CONFIG), "people")
    terminal.done("brat init")

    async with judging(terminal) as jenkins:
        start = "brat mayor start --task 'Say so' --headless"
        said = await asyncio.to_thread(terminal.type, start)

    taken(terminal, said)
    assert (terminal.cwd / "said").read_text().splitlines()[0] == "told"
    assert len(set(jenkins.judged)) == RED + 1, "each is a commit of its own"
    assert "ci/jenkins" in terminal.done("brat log tail -n 200")
