"""An issue with a convoy on the local forge, a bot that listens, and people.

`you` own the repository, mallory may only read it.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
import pygit2
import pytest

from bot.door.inbox import Remark
from bot.door.webhooks import WEBHOOK_PATH
from bot.forge.github import GitHub
from bot.loop.loop import Loop
from bot.repository.draft import Draft
from bot.roles.bot_context import BotContext
from bot.serving import bot_service
from brat.forge.http_server import serving
from brat.forge.resources.forge_records import Ci, Kind, Role
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from brat.forge.storage.forge_state import Forge
from brat.local import local_mode
from brat.repository import registration as registrations
from brat.repository.registration import FORGE_FOLDER, Registration, Source
from convoy.events import Command
from convoy.events.forge_actions import ActionDone
from convoy.events.hold_events import BranchPushed, BranchTaken
from convoy.model import ids
from convoy.model.state import Convoy, State, Task
from convoy.owed import Role as Job
from convoy.rules.ending import AcceptWork
from convoy.rules.landing import open_candidates
from convoy.rules.starting import StartTask
from grite import git
from tests.bot.door_client import headers_of
from tests.bot.history import History
from tests.bot.there import there
from tests.world.forge import AUTHOR, Checkout, Json, judging, make_source, until
from tests.world.github_forge.extension import github, people
from tests.world.patience import patient
from tests.world.traffic import Observer, observed
from tests.world.trusting_jobs import trusting_jobs

TWO_WAYS = pytest.mark.parametrize(
    "delivered",
    [
        pytest.param(True, id="webhooks"),
        pytest.param(False, id="polling", marks=pytest.mark.layer("deep")),
    ],
)
"""A story that the bot hears of by deliveries, or by looking alone."""
EVERYBODY: tuple[Job, ...] = ("mayor", "witness", "refinery", "deacon")
SHELL = """\
[engine.default]
type = "shell"
args = ["true"]
"""
NAME = "do-it-1"
REPO = "you/app"
LIST = "- [ ] one\n- [ ] two\n"
HEADS = "refs/heads/"
FILES = {"README.md": b"# app\n", "one.py": b"one\n"}
DEADLINE_S = patient(30)


@dataclass
class Room:
    loop: Loop
    forge: Forge
    person: GitHub
    issue: int
    """0: none is open yet."""
    delivered: bool
    """Whether the bot hears what happens on the forge; else it looks."""
    knock: Callable[[str, object], Awaitable[None]]
    """Delivers an event with this payload, signed."""

    @property
    def context(self) -> BotContext:
        return self.loop.context

    @property
    def state(self) -> State:
        return self.context.mirror.state

    @property
    def bare(self) -> Path:
        """Where the forge keeps the repository."""
        return self.forge.bare(self.forge.known(self.context.settings.repository)).path

    def configure(self, **changes: object) -> None:
        self.context.settings = self.context.settings.model_copy(update=changes)

    async def swept(self, times: int = 1) -> None:
        """Let the bot look at everything, as it does from time to time."""
        for _ in range(times):
            self.loop.wake.all()
            await self.loop.tick()

    # --- saying ---------------------------------------------------------------------

    async def said(
        self,
        text: str,
        times: int = 1,
        *,
        by: str = "you",
        on: int | None = None,
        on_issue: int | None = None,
    ) -> tuple[str, list[str]]:
        """Let a person comment on an issue, or `on` a pull request.

        Return the bot's newest answers and the reactions; `times` are deliveries.
        """
        replies = self._replies()
        number = on or on_issue or self.issue
        comment = await self.written(number, text, by)
        remark = Remark(
            issue=number,
            comment=comment,
            text=text,
            by=by,
            on_pull=on is not None,
            title="Do it",
            body=LIST,
        )
        for _ in range(times):
            self.context.inbox.put(f"delivery-{comment}", remark)
            await self.loop.tick()
        reactions = self.forge.store.reactions.of(comment)
        return replies(), [each.content for each in reactions]

    async def heard(self, text: str, *, by: str = "you", on: int | None = None) -> str:
        """Let a person comment, and the bot find it; return what it replies."""
        replies = self._replies()
        comment = await self.written(on or self.issue, text, by)
        await self.until(lambda: comment in self.state.answered)
        return replies()

    def _replies(self) -> Callable[[], str]:
        before, asked = len(self.forge.store.comments.all()), self.shown()

        def found() -> str:
            comments = self.forge.store.comments.all()
            new = [each.body for each in comments[before + 1 :]]
            return "\n".join((*new, *(e for e in self.shown() if e not in asked)))

        return found

    def shown(self) -> list[str]:
        """Return the answers that comments of convoys show, the newest last."""
        convoys = self.state.convoys.values()
        return [
            f"{convoy.name} {each.comment}: {each.text}"
            for convoy in convoys
            for each in convoy.answers
        ]

    async def write(self, title: str, text: str, by: str = "you") -> int:
        """Let somebody open an issue."""
        asked = {"title": title, "body": text}
        return int((await self.asked("POST", "issues", asked, by))["number"])

    async def came(self, count: int = 1) -> None:
        """Wait until so much has come in that asks for something."""
        inbox = self.context.inbox

        await until(lambda: len(inbox.requests()) + len(inbox.remarks()) >= count)

    async def label(self, issue: int) -> None:
        """Let the owner label an issue, and the bot hear of it."""
        await self.person.relabel(issue, {"brat"}, set())
        await self.came()
        await self.loop.tick()

    async def written(self, number: int, text: str, by: str) -> int:
        made = await self.asked("POST", f"issues/{number}/comments", {"body": text}, by)
        return int(made["id"])

    async def answer(self, text: str, *, by: str = "you", on: int | None = None) -> str:
        return (await self.said(text, by=by, on=on))[0]

    async def until(
        self, condition: Callable[[], object], *, red: frozenset[str] | None = None
    ) -> None:
        """Let the bot hear what the forge delivers, or look, until something is so.

        Where `red` is given, CI judges all that is built meanwhile: what holds one of
        these files is red.
        """
        async with asyncio.timeout(DEADLINE_S):
            while not condition():
                await self.loop.wake.wait(0.2)
                if not self.delivered:
                    self.loop.wake.all()
                await self.loop.tick()
                if red is not None:
                    await self.judged(red)

    async def judged(self, red: frozenset[str] = frozenset()) -> None:
        """Let CI judge all that is built: what holds one of the files is red."""
        for convoy in [*self.state.live()]:
            for one in open_candidates(convoy):
                files = self.context.commits.files(one.commit)
                state = "failure" if red.intersection(files) else "success"
                said = {"context": "ci", "state": state, "description": "tests"}
                await self.asked("POST", f"statuses/{one.commit}", said)

    async def asked(
        self, method: str, path: str, body: object, by: str = "you"
    ) -> Json:
        """Let somebody ask the forge about the repository; return what it answers."""
        url = f"{self.context.settings.api_url}/repos/{REPO}/{path}"
        answer = await self._sent(method, url, by, json=body)
        return answer.json() if answer.content else None

    async def reviewed(
        self,
        event: str,
        by: str = "you",
        text: str = "",
        on: int | None = None,
        **more: object,
    ) -> int:
        """Let somebody review a pull request, or that of task 1; return its id."""
        body = {"event": event, "body": text, **more}
        path = f"pulls/{on or self.pull(1)}/reviews"
        return int((await self.asked("POST", path, body, by))["id"])

    async def mutated(self, name: str, **given: str) -> None:
        """Let a person make one of GraphQL's changes, such as `deleteIssue`."""
        kind = f"{name[0].upper()}{name[1:]}Input!"
        text = f"mutation ($in: {kind}) {{ {name}(input: $in) {{ clientMutationId }} }}"
        asked = {"query": text, "variables": {"in": given}}
        url = self.context.settings.api_url.replace("/v3", "/graphql")
        answer = await self._sent("POST", url, json=asked)
        assert "errors" not in answer.json(), answer.text

    async def pressed(self, check: int, button: str, by: str = "you") -> None:
        url = f"{self.context.settings.git_url}/{REPO}/runs/{check}/press"
        await self._sent("POST", url, by, data={"identifier": button})

    async def _sent(
        self, method: str, url: str, by: str = "you", **body: Json
    ) -> httpx.Response:
        headers = {"Authorization": f"Bearer {self.forge.add_token(by)}"}
        async with httpx.AsyncClient(trust_env=False, timeout=DEADLINE_S) as client:
            answer = await client.request(method, url, headers=headers, **body)
        assert answer.is_success, answer.text
        return answer

    async def push(self, refspec: str, by: str = "you") -> None:
        """Let somebody push from the bot's commits, such as `:refs/heads/gone`."""
        settings = self.context.settings
        remote = f"{settings.git_url}/{REPO}.git"
        person = Checkout(settings.folder, self.forge.add_token(by))
        mirror = str(self.context.mirror.path)
        await person.git("-C", mirror, "push", "--quiet", remote, refspec)

    def let_in(self, login: str, role: Role = "write") -> str:
        kind: Kind = "Bot" if login.endswith("[bot]") else "User"
        self.forge.add_user(login, kind=kind)
        self.forge.grant(REPO, login, role)
        return login

    # --- working --------------------------------------------------------------------

    async def do(self, *commands: Command) -> None:
        """Put commands to the rules, which must allow them."""
        for command in commands:
            async with self.loop.deciding() as draft:
                assert draft.submit(command) is None, command
                await self.loop.pushes.push(draft)

    async def started(self, number: int, run: int = 7) -> str:
        """Start the task's next attempt, as the witness does; return its base."""
        task = self.task(number)
        tip = self.context.mirror.refs[HEADS + ids.base_branch(NAME)]
        left = task.half_done
        base = left.commit if left else task.earlier.commit if task.earlier else tip
        await self.do(
            StartTask(
                convoy=NAME,
                task=number,
                base=base,
                session="a" * 32,
                nonce=f"nonce{number}",
                now=self.context.clock(),
            )
        )
        session = ids.session_name(NAME, number, task.started + 1)
        await self.do(ActionDone(key=ids.key("dispatch", session), number=run))
        return base

    async def worked(
        self, number: int, files: dict[str, bytes], declined: tuple[str, ...] = ()
    ) -> str:
        """Let an attempt hand in a commit with these files; return its id."""
        base = await self.started(number)
        commits = self.context.commits
        old = {each: commits.text(base)(each).encode() for each in commits.files(base)}
        made = self.history().commit(files, base)
        attempt = there(self.task(number).attempt)
        draft = self.context.draft()
        refused = draft.submit(
            AcceptWork(
                convoy=NAME,
                task=number,
                attempt=attempt.number,
                commit=made,
                base=attempt.root or attempt.base,
                files=tuple(each for each in files if files[each] != old.get(each)),
                declined=declined,
            )
        )
        assert refused is None
        draft.move(HEADS + ids.task_branch(NAME, number), made)
        await self.pushed(draft)
        await self.loop.tick()
        return made

    async def landed_on_base(self, files: dict[str, bytes]) -> str:
        """Let something else land on the convoy's branch; return its commit."""
        ref = HEADS + ids.base_branch(NAME)
        mirror = self.context.mirror
        made = self.history().commit(files, mirror.refs[ref])
        draft = self.context.draft()
        draft.move(ref, made)
        draft.submit(BranchPushed(convoy=NAME, commit=made))
        draft.submit(BranchTaken(convoy=NAME, commit=made, by="you"))
        await self.pushed(draft)
        return made

    async def configured(self, config: str) -> None:
        ref = HEADS + "main"
        files = {".brat/config.toml": config.encode()}
        made = self.history().commit(files, self.context.mirror.refs[ref])
        draft = self.context.draft()
        draft.move(ref, made)
        await self.pushed(draft)

    async def pushed(self, draft: Draft) -> None:
        update = await asyncio.to_thread(self.loop.lease.renewed, draft.now)
        await asyncio.to_thread(draft.push, update)
        self.loop.lease.pushed(update)

    def history(self) -> History:
        return History(self.context.mirror.path)

    # --- looking --------------------------------------------------------------------

    @property
    def convoy(self) -> Convoy:
        return self.state.convoys[NAME]

    def convoy_state(self) -> str:
        return self.convoy.state

    def task(self, number: int) -> Task:
        return there(self.convoy.task(number))

    def pull(self, number: int) -> int:
        return there(self.task(number).pull)

    def tip(self, branch: str) -> str:
        repo = pygit2.Repository(str(self.bare))
        return str(repo.references[HEADS + branch].target)

    def convoys(self) -> list[Convoy]:
        return list(self.state.convoys.values())

    def spoken(self) -> list[str]:
        """Return every comment there is, oldest first."""
        return [each.body for each in self.forge.store.comments.all()]

    def labels(self, number: int | None = None) -> set[str]:
        """Return the labels of the issue, or of another one."""
        store, asked = self.forge.store, number or self.issue
        issue = next(each for each in store.issues.all() if each.number == asked)
        return {label.name for label in store.labels.all() if label.id in issue.labels}


def registered(folder: Path, files: Mapping[str, str]) -> Registration:
    """Register a project with these files, by their path from `.brat`; empty: none."""
    source = make_source(folder / "source")
    for name, content in files.items():
        if content:
            file = source / ".brat" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content)
    if any(files.values()):
        git.run(["add", "."], cwd=source)
        git.run(["commit", "-q", "-m", "Configure"], cwd=source, env=AUTHOR)
    told = Source(path=source, branch="main", name="app", person="you")
    known = registrations.register(folder, told)
    registrations.set_ci(folder, known, Ci())
    return known


@asynccontextmanager
async def room(
    folder: Path,
    config: str | Mapping[str, str] = "",
    *,
    text: str | None = LIST,
    roles: tuple[Job, ...] = ("mayor", "refinery", "deacon"),
    delivered: bool = False,
    labelled: bool = True,
    observe: Observer = lambda _: None,
    extend: Callable[[Service], Extension] = people,
    **told: object,
) -> AsyncIterator[Room]:
    """Serve a forge with an issue whose convoy the bot has just begun, if `labelled`.

    `config` is the repository's, or the files of its `.brat` folder; without a `text`
    there is no issue, and the bot has heard nothing yet. Where `delivered`, what
    happens on the forge comes to the bot's door. `told` are settings of the bot. All
    that is asked has to be as GitHub describes it.
    """
    files = {"config.toml": config} if isinstance(config, str) else config
    known = registered(folder, files)
    with (
        trusting_jobs(folder),
        Forge(folder / FORGE_FOLDER) as forge,
        judging(forge) as judge,
    ):
        forge.add_user("mallory")
        judged = observed(judge, observed(observe, extend))
        async with (
            serving(forge, extend=judged) as url,
            local_mode.person(url, known) as person,
        ):
            settings = local_mode.bot_settings(folder, known, url, roles=roles)
            settings = settings.model_copy(update=told)
            async with (
                bot_service.opened(settings, lambda _: None) as loop,
                bot_service.door(loop, 0) as port,
            ):
                if delivered:
                    await local_mode.point_hook(url, known, port)

                async def knock(event: str, payload: object) -> None:
                    body = json.dumps(payload).encode()
                    headers = headers_of(body, event, known.secret, str(uuid4()))
                    door = f"http://127.0.0.1:{port}{WEBHOOK_PATH}"
                    async with httpx.AsyncClient(trust_env=False) as client:
                        answer = await client.post(door, content=body, headers=headers)
                    assert answer.status_code == 202, answer.text

                here = Room(loop, forge, person, 0, delivered, knock)
                if text is not None:
                    here.issue = await person.open_issue("Do it", text)
                    if labelled:
                        await person.relabel(here.issue, {"brat"}, set())
                    await loop.tick()
                yield here


def empty_room(
    folder: Path,
    config: str | Mapping[str, str] = SHELL,
    **given: Any,  # noqa: ANN401  as `room` takes it
) -> AbstractAsyncContextManager[Room]:
    """Serve a room without an issue, whose bot has heard nothing yet."""
    usual = {"text": None, "roles": ("mayor",), "delivered": True, "extend": github}
    return room(folder, config, **{**usual, **given})
