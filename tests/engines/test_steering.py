"""What a person says reaches a real CLI while it works, through the real runner."""

import asyncio
import json
import os
from pathlib import Path

import pytest

from bot.door.feed import Feed
from convoy.events.people_events import TaskHeard, TaskTold
from convoy.model.records import EngineSpec
from tests.attacks.sessions import handed
from tests.engines.cases import ENGINES
from tests.engines.install import PROGRAMS
from tests.feed.hall import SESSION, hall, running
from tests.runner.job import Forge
from tests.world.forge import until
from tests.world.patience import patient
from tests.world.rules import NAME
from tests.world.vendor.script import Case, Run, Script, Write
from tests.world.vendor.scripted import scripted

pytestmark = pytest.mark.timeout(90)

WISH = "Shout it instead"
WAITING = (
    "touch waiting; for i in $(seq 200); do "
    "python3 -c 'import time; time.sleep(0.1)'; if [ -e go ]; then break; fi; done"
)
SCRIPT = Script(
    cases=(
        Case(
            when=("Greet the world",),
            unless=(WISH,),
            steps=(Run(command=WAITING),),
            closing="BRAT: done. Wrote nothing.",
        ),
        Case(
            when=(WISH,),
            steps=(Run(command="true"), Write(path="loud.txt", content="HELLO\n")),
            closing="BRAT: done. Shouted.",
        ),
    )
)


@pytest.mark.needs("claude")
async def test_an_engine_is_told_while_it_works(tmp_path: Path) -> None:
    forge, rules, engine = Forge(tmp_path), running(), ENGINES["claude-code"]
    spec = EngineSpec(type=engine.type, model=engine.model, timeout_s=600)
    started = forge.started(
        convoy=NAME, task=1, attempt=1, title="Greet the world", engine=spec
    )
    env = forge.environment(
        forge.hand_off(started),
        BRAT_SESSION=SESSION,
        PATH=os.pathsep.join((str(PROGRAMS), *os.get_exec_path())),
    )
    work = Path(env["GITHUB_WORKSPACE"])

    async def waiting() -> Path | None:
        return await asyncio.to_thread(lambda: next(work.glob("*/waiting"), None))

    with scripted(tmp_path, SCRIPT) as served:
        async with hall(tmp_path, rules) as here:
            place = here.place()
            feed = json.dumps({"url": place.url, "token": place.token})
            with handed(BRAT_FEED_FD=feed) as told:
                env |= {"BRAT_MODEL_URL": served.url, **told}
                job = forge.start(env, fds=(int(told["BRAT_FEED_FD"]),))
            async with asyncio.TaskGroup() as group:
                ended = group.create_task(asyncio.to_thread(forge.left_by, job))
                at_work = await until(waiting, deadline_s=patient(40))
                listened = here.feed.listens(SESSION)
                rules.do(TaskTold(convoy=NAME, task=1, by="bea", text=WISH))
                owed = await until(lambda: _owed(here.feed), deadline_s=patient(20))
                (at_work.parent / "go").touch()
    left = ended.result()

    assert listened
    assert owed[0].messages == 1
    assert left.result["summary"] == "Shouted.", (left.said[-2000:], left.err)
    assert "loud.txt" in left.result["files"]
    assert left.result["conclusion"] == "success"


async def _owed(feed: Feed) -> list[TaskHeard]:
    return [*feed.owed()]
