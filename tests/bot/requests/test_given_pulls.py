"""Anybody's pull request, given to brat by `/brat land` or `/brat fix`."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import pytest
from aiohttp import web
from msgspec import json

from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from convoy.model.state import Convoy
from grite import git
from tests.bot.loop.test_effects import running
from tests.bot.requests.test_closed_pulls import Does, asks, close, drafted
from tests.bot.room import EVERYBODY, HEADS, REPO, TWO_WAYS, Room, room
from tests.bot.there import there
from tests.world.cases import looped
from tests.world.forge_rules import (
    checks,
    merge_queue,
    pull_request,
    put_hook,
    put_ruleset,
)
from tests.world.github_forge.extension import github, people, rules

STRANGER: Final = "mallory"
_Next = Callable[[web.Request], Awaitable[web.StreamResponse]]


@web.middleware
async def _forked(request: web.Request, handler: _Next) -> web.StreamResponse:
    answer = await handler(request)
    is_pulls = re.fullmatch(r".*/repos/[^/]+/[^/]+/pulls(/[0-9]+)?", request.path)
    if isinstance(answer, web.Response) and is_pulls and answer.status in (200, 201):
        assert isinstance(answer.body, bytes)
        said = json.decode(answer.body)
        for pull in said if isinstance(said, list) else [said]:
            author, head = pull["user"], pull["head"]
            if author["login"] == STRANGER:
                own = f"{STRANGER}/{head['repo']['name']}"
                head |= {"label": f"{STRANGER}:{head['ref']}", "user": author}
                head["repo"] |= {"full_name": own, "fork": True, "owner": author}
        answer.body = json.encode(said)
    return answer


def forks(service: Service) -> Extension:
    """Let people do what they can do on GitHub, and a stranger have a fork."""
    return replace(people(service), middlewares=(_forked,))


CI = '[refinery]\nchecks = ["ci"]\n'
pytestmark = [pytest.mark.layer("landing"), pytest.mark.room(CI)]
QUEUE = "brat/queue/main/"


async def opened(
    here: Room,
    branch: str,
    files: Mapping[str, bytes],
    by: str = "you",
    base: str = "main",
) -> int:
    """Let a person push a branch and open a pull request of it; return its number."""
    await pushed(here, branch, files, here.tip(base))
    asked = {"title": f"Do {branch}", "head": branch, "base": base}
    await here.asked("POST", "pulls", asked, by)
    found = there(await here.person.pulls.of(branch, base))
    return found.number


async def pushed(
    here: Room, branch: str, files: Mapping[str, bytes], onto: str
) -> None:
    commits = here.context.commits
    read = commits.text(onto)
    whole = {name: read(name).encode() for name in commits.files(onto)} | {**files}
    made = here.history().commit(whole, onto)
    await here.push(f"{made}:{HEADS}{branch}")


def given(here: Room, number: int) -> Convoy:
    state = here.state
    return [each for each in state.convoys.values() if each.issue == number][-1]


AGENT = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "{}"]
[runner]
box = "off"
[refinery]
checks = ["ci"]
"""
RESOLVE = "sed -i '/^<<<<<<< /d; /^=======$/d; /^>>>>>>> /d' list"


async def finished(here: Room, number: int) -> Convoy:
    """Let CI be green on all that is built until a pull request's convoy has ended."""
    await here.until(lambda: given(here, number).ended, red=frozenset())
    return given(here, number)


async def judged(here: Room) -> None:
    """Let CI be green on all open candidates, and the bot see it."""
    await here.judged()
    await here.swept(2)


def is_merged(here: Room, number: int) -> bool:
    pulls = here.forge.store.pulls.all()
    return any(pull.number == number and pull.merged_at for pull in pulls)


async def test_a_green_pull_request_lands_as_ci_judged_it(here: Room) -> None:
    number = await opened(here, "more", {"more.py": b"more\n"})
    said = await here.answer("/brat land", on=number)
    await here.swept()

    assert "is in the merge queue of `main`" in said
    candidate = there(given(here, number).candidate)
    waits = f"CI on {candidate.commit[:10]} or on the changes ahead of it"
    assert waits in await here.answer("/brat why 1", on=number)
    assert "0 of 1 merged · 1 needs-review" in await here.answer(
        "/brat status", on=number
    )
    assert "use /brat cancel instead" in await here.answer("/brat cancel 1", on=number)
    assert here.tip(QUEUE + candidate.commit) == candidate.commit

    await judged(here)
    assert given(here, number).state == "complete", given(here, number).why
    assert here.tip("main") == candidate.commit
    assert is_merged(here, number)


@TWO_WAYS
@pytest.mark.room(CI)
async def test_of_three_the_red_and_the_conflicting_are_set_aside(here: Room) -> None:
    first = await opened(here, "first", {"list": b"one\n"})
    second = await opened(here, "second", {"bad": b"bad\n"})
    third = await opened(here, "third", {"list": b"three\n"})
    for number in (first, second, third):
        await here.heard("/brat land", on=number)
    for number in (first, second, third):
        await here.until(lambda: given(here, number).ended, red=frozenset({"bad"}))  # noqa: B023

    assert [is_merged(here, each) for each in (first, second, third)] == [
        *(True, False, False)
    ]
    red, conflicting = given(here, second), given(here, third)
    assert "CI is red on" in red.why
    assert f"conflicts with main in list, landed with #{first}" in conflicting.why
    assert (red.state, conflicting.state) == ("failed", "failed")
    told = [each for each in here.spoken() if "will not land on main" in each]
    assert len(told) == 2
    for each in told:
        assert each.count("@you ") == 1
        assert "To try its newest commit, say `/brat land`." in each


async def test_what_a_force_push_took_out_leaves_the_queue(here: Room) -> None:
    clean = here.tip("main")
    await pushed(here, "main", {"password": b"1234\n"}, clean)
    secret = here.tip("main")
    number = await opened(here, "more", {"more.py": b"more\n"})
    await here.heard("/brat land", on=number)
    await here.push(f"+{clean}:{HEADS}main")
    convoy = await finished(here, number)

    assert "has commits that a force push took out of main" in convoy.why
    assert not here.context.composer.is_ancestor(secret, here.tip("main"))


@pytest.mark.parametrize(
    "hook", ["update main", "update brat/queue", "pre-receive main"]
)
async def test_what_stands_on_a_refused_pull_request_lands_without_it(
    hook: str, tmp_path: Path
) -> None:
    """bors-ng#681: of a batch the others were cancelled where a merge was refused."""
    name, ref = hook.split()
    read = "ref=$1 new=$3" if name == "update" else "while read old new ref; do"
    script = f"""{read}
        case $ref in refs/heads/{ref}*)
        ! git ls-tree --name-only $new 2>&1 | grep -qx second || exit 1 ;; esac"""
    async with room(tmp_path, CI) as here:
        put_hook(here.bare, name, script + ("" if name == "update" else "\ndone"))
        names = ("first", "second", "third")
        numbers = [await opened(here, each, {each: b"more\n"}) for each in names]
        for number in numbers:
            await here.answer("/brat land", on=number)
        await here.until(
            lambda: all(is_merged(here, each) for each in numbers[::2]),
            red=frozenset(),
        )

        refused, asks = given(here, numbers[1]), "This convoy needs a decision"
        assert refused.set_aside is not None
        assert not refused.ended
        assert sum(asks in each for each in here.spoken()) == 1


@TWO_WAYS
@pytest.mark.room(AGENT.format(RESOLVE), roles=EVERYBODY, labelled=False)
async def test_an_agent_resolves_what_a_pull_request_conflicts_in(here: Room) -> None:
    number = await opened(here, "work", {"list": b"one\n"})
    mine = here.tip("work")
    await pushed(here, "main", {"list": b"other\n"}, here.tip("main"))
    said = await here.heard("/brat fix", on=number)
    assert "An agent will add commits to `work`." in said
    convoy = await finished(here, number)

    assert convoy.state == "complete", convoy.why
    contains = here.context.composer.is_ancestor
    assert contains(mine, here.tip("work"))
    assert contains(here.tip("main"), here.tip("work"))
    path = here.context.mirror.path
    made = git.run(["show", f"{here.tip('work')}:list"], cwd=path).stdout
    assert sorted(made.split()) == [b"one", b"other"]


@TWO_WAYS
@pytest.mark.parametrize("answer", ["/brat approve", "/brat cancel"])
@pytest.mark.room(
    AGENT.format("echo mended > mended.py"), roles=EVERYBODY, labelled=False
)
async def test_an_author_is_asked_before_an_agent_works_on_their_branch(
    here: Room, answer: str
) -> None:
    bea = here.let_in("bea")
    number = await opened(here, "work", {"bad": b"bad\n"}, by=bea)
    before = here.tip("work")
    red = {"context": "ci", "state": "failure", "description": "2 of 9 tests failed"}
    await here.asked("POST", f"statuses/{before}", red)
    await here.heard("/brat fix", on=number)

    await here.until(
        lambda: any("@bea: you wants an agent" in each for each in here.spoken())
    )
    assert given(here, number).state == "planning"
    refused = await here.heard("/brat approve", on=number)
    assert "the branch belongs to bea, who must agree first" in refused

    await here.heard(answer, by=bea, on=number)
    if answer == "/brat cancel":
        convoy = given(here, number)
        assert (convoy.state, convoy.why) == ("failed", "cancelled by bea")
        assert here.tip("work") == before
        return
    convoy = await finished(here, number)
    assert convoy.state == "complete", convoy.why
    path = here.context.mirror.path
    line = git.run(["rev-list", "--first-parent", here.tip("work")], cwd=path)
    assert before in line.stdout.decode().split()
    assert "mended.py" in here.context.commits.files(here.tip("work"))
    assert "2 of 9 tests failed" in convoy.tasks[0].spec.instructions
    assert not is_merged(here, number)
    assert (await here.person.pulls.one(number)).state == "open"


@TWO_WAYS
@pytest.mark.room(CI, extend=forks)
async def test_what_may_not_be_done_to_a_pull_request_says_what_may(here: Room) -> None:
    mine = await opened(here, "mine", {"mine.py": b"mine\n"})
    here.let_in(STRANGER)
    theirs = await opened(here, "theirs", {"x.py": b"x\n"}, by=STRANGER)
    here.forge.grant(REPO, STRANGER, "read")
    head = here.tip("theirs")

    denied = await here.heard("/brat land", by=STRANGER, on=theirs)
    unnamed = await here.heard("/brat land", on=theirs)
    forked = await here.heard("/brat fix -- mend it", on=theirs)
    here.context.github.repository = REPO.upper()  # which makes it no fork
    nothing = await here.heard("/brat fix", on=mine)
    here.context.github.repository = REPO
    reserved = await opened(here, "brat/queue/x", {"y.py": b"y\n"})
    own = await here.heard("/brat land", on=reserved)
    old = await here.heard("/brat land 1234567", on=mine)
    assert len(here.state.convoys) == 1, "refused is refused"
    named = await here.heard(f"/brat land {head[:10]}", on=theirs)
    again = await here.heard(f"/brat land {head[:10]}", on=theirs)

    assert "write" in denied
    assert f"reviewed: `/brat land {head[:10]}`" in unnamed
    assert "the branch is in a fork" in forked
    assert "write what to do after `--`" in nothing
    assert "`brat/queue/*` is reserved for brat's branches" in own
    assert f"the head is `{here.tip('mine')[:10]}`" in old
    assert "is in the merge queue of `main`" in named
    assert "it is already in the merge queue; `/brat cancel` ends that" in again
    await judged(here)
    assert is_merged(here, theirs)


@pytest.mark.parametrize("whose", ["current", "behind", "a fork's", "queued"])
async def test_where_only_pull_requests_land_the_forge_merges_what_ci_judged(
    tmp_path: Path, whose: str
) -> None:
    def ruled(service: Service) -> Extension:
        queue = (merge_queue(),) if whose == "queued" else ()
        put_ruleset(service.forge, pull_request(), *queue, repo=REPO)
        made = github(service) if queue else rules(service)
        return replace(made, middlewares=forks(service).middlewares)

    by = STRANGER if whose == "a fork's" else "you"
    async with room(tmp_path, CI, extend=ruled, labelled=False) as here:
        here.let_in(STRANGER, "admin")
        number = await opened(here, "more", {"more.py": b"more\n"}, by=by)
        mine = here.tip("more")
        if whose in {"behind", "a fork's"}:
            other = await opened(here, "other", {"other.py": b"other\n"})
            await here.asked("PUT", f"pulls/{other}/merge", {})
        await here.swept()
        await here.answer("/brat land", on=number)
        await here.until(lambda: given(here, number).ended, red=frozenset())

        convoy = given(here, number)
        if whose == "a fork's":
            assert "its author must merge main into the branch" in convoy.why
            assert here.tip("more") == mine
            return
        assert convoy.state == "complete", convoy.why
        assert is_merged(here, number)
        contains = here.context.composer.is_ancestor
        assert contains(mine, here.tip("more"))
        assert (here.tip("more") == mine) == (whose != "behind")
        same = here.context.composer.same_tree
        assert same(there(convoy.landed), convoy.built)


async def test_nobody_is_called_for_a_check_while_a_workflow_runs(
    tmp_path: Path,
) -> None:
    def ruled(service: Service) -> Extension:
        put_ruleset(service.forge, pull_request(), checks("ci", "dco"), repo=REPO)
        return github(service)

    async with room(tmp_path, CI, extend=ruled, labelled=False) as here:
        number = await opened(here, "more", {"more.py": b"more\n"})
        await here.answer("/brat land", on=number)
        waits = "the check dco"
        await here.until(
            lambda: given(here, number).landing_waits == waits, red=frozenset()
        )
        run = here.forge.store.runs.get(running(here, "more", here.tip("more")))
        await here.swept(2)
        assert given(here, number).landing_waits == ""

        here.forge.store.runs.change(
            there(run), status="completed", conclusion="success"
        )
        said = {"context": "dco", "state": "failure"}
        await here.asked("POST", f"statuses/{here.tip('more')}", said)
        await here.swept(2)
        assert given(here, number).landing_waits == waits
        assert sum("needs a decision" in each for each in here.spoken()) == 1

        await here.asked(
            "POST", f"statuses/{here.tip('more')}", said | {"state": "success"}
        )
        await here.until(lambda: given(here, number).ended)
        assert is_merged(here, number)


GONE = "the pull request was closed"
PUSHED = "has since been pushed to the pull request"
EVIL = {"more.py": b"evil\n"}


async def push(here: Room, _: int) -> None:
    await pushed(here, "push", EVIL, here.tip("push"))


async def force(here: Room, _: int) -> None:
    made = here.history().commit(EVIL, here.tip("main"))
    await here.push(f"+{made}:{HEADS}force")


async def unlabel(here: Room, number: int) -> None:
    await here.until(lambda: here.labels(number) == {"brat:active"})
    await here.asked("DELETE", f"issues/{number}/labels/brat:active", None)


GESTURES: dict[str, tuple[str, Does]] = {
    "push": (PUSHED, push),
    "force": (PUSHED, force),
    "close": (GONE, close),
    "gone": (GONE, lambda here, _: here.push(f":{HEADS}gone")),
    "base": ("next", asks(base="next")),
    "draft": ("the pull request was converted to a draft", drafted),
    "label": ("cancelled: you removed the label", unlabel),
}
"""Why a pull request leaves the queue, and what a person does to it; by its branch."""


@looped(*GESTURES.items())
@pytest.mark.room(CI, delivered=True, extend=github)
async def test_a_push_takes_a_pull_request_out_of_the_queue(
    gesture: str, meant: tuple[str, Does], here: Room
) -> None:
    why, does = meant
    before, told = here.tip("main"), len(here.spoken())
    await here.push(f"+{before}:{HEADS}next")
    number = await opened(here, gesture, {"more.py": b"more\n"})
    await here.heard("/brat land", on=number)
    await here.until(lambda: given(here, number).candidate)
    await does(here, number)
    await here.until(lambda: given(here, number).ended)

    assert why in given(here, number).why
    await judged(here)
    assert here.tip("main") == before
    said = sum("will not land on main" in each for each in here.spoken()[told:])
    assert said == (gesture != "label")


@pytest.mark.parametrize("delivered", [True, False], ids=["delivery", "look"])
@pytest.mark.room(CI, labelled=False)
async def test_a_persons_label_counts_and_a_bots_is_told_of_once(here: Room) -> None:
    number = await opened(here, "more", {"more.py": b"more\n"})
    bot, path = here.let_in("helper[bot]"), f"issues/{number}/labels"
    await here.asked("POST", path, {"labels": ["brat:merge"]}, by=bot)
    await here.swept(3)
    assert not here.state.convoys
    [said] = [each for each in here.spoken() if "ignores labels" in each]
    assert f"{bot} sets" in said

    await here.asked("DELETE", f"{path}/brat:merge", None)
    await here.asked("POST", path, {"labels": ["brat:merge"]})
    if here.delivered:
        state = here.state
        await here.until(lambda: state is not here.state)
    for _ in range(2):
        await here.swept()
        await judged(here)

    assert is_merged(here, number)
    assert here.labels(number) == {"brat:complete"}
    assert sum("is in the merge queue" in each for each in here.shown()) == 1
