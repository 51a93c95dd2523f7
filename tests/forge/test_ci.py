"""CI judges exactly the commit that was pushed, in a box that knows no secret."""

import os
from pathlib import Path

import psutil
import pytest

from brat.forge.resources.forge_records import Ci
from brat.forge.service.local_ci import cores, verdict
from brat.forge.storage.forge_state import Forge
from convoy.text.project_tests import headline
from grite.outbound import PROXIES, TRUST
from runner.box import surroundings
from tests.world.forge import REPO, Checkout, Json, Town, settle_in, town, until


async def push(
    here: Town,
    text: str = "x",
    to: str = "brat/queue/main/x",
    checkout: Checkout | None = None,
) -> tuple[Checkout, str]:
    checkout = checkout or await here.clone()
    commit = await checkout.commit("work.txt", text)
    to = f"HEAD:refs/heads/{to}"
    await checkout.git("push", "--quiet", "--force", here.remote, to)
    return checkout, commit


async def found(here: Town, text: str = "x", checkout: Checkout | None = None) -> Json:
    """Push a commit with this text, another one each time; return how CI judges it."""
    to = f"brat/queue/main/{len(here.checkouts)}-{text.replace(' ', '-')}"
    return await judged(here, (await push(here, text, to, checkout))[1])


async def checks(here: Town, commit: str) -> Json:
    found = await here.get(f"commits/{commit}/check-runs?filter=all")
    return found["check_runs"]


async def judged(here: Town, commit: str) -> Json:
    (check,) = await stood(here, commit, "completed")
    return check


async def stood(here: Town, commit: str, *states: str, of: str = "status") -> Json:
    """Return the checks of a commit, newest first, once they stand like that."""

    async def standing() -> Json:
        listed = await checks(here, commit)
        return listed if [one[of] for one in listed] == [*states] else None

    return await until(standing)


async def test_a_commit_that_fails_says_how_it_ended(here: Town) -> None:
    here.judge("echo no >&2; exit 7")

    check = await found(here)

    assert check["conclusion"] == "failure"
    assert check["output"]["summary"] == "`echo no >&2; exit 7` exited with status 7."
    assert check["output"]["text"] == "no\n"
    _, killed = verdict(-9, Ci(command="make"), "")
    assert killed.summary == "`make` was killed by SIGKILL."
    _, crashed = verdict(139, Ci(command="make"), "collected 3 items\n")
    assert crashed.summary == "`make` was killed by SIGSEGV."
    assert headline(crashed.text or "") == "fatal: it was killed by SIGSEGV"
    _, misused = verdict(129, Ci(command="make"), "")
    assert misused.summary == "`make` exited with status 129."


async def test_the_command_knows_nothing_of_the_forge(
    here: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_OF_THE_FORGE", "x")
    for name in (*PROXIES, *TRUST):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HTTPS_PROXY", "http://pat:made-up-pass@proxy.example.test")
    monkeypatch.setenv("NO_PROXY", "example.test")
    here.judge("env | cut -d= -f1 | sort | grep -vxE '_|PWD|OLDPWD|SHLVL'")

    names = (await found(here))["output"]["text"].split()

    own = ["CI", "GITHUB_REF_NAME", "GITHUB_SHA", "HOME", "LANG", "PATH", "TMPDIR"]
    ways = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"]  # of its box
    lower = [each.lower() for each in ways]
    tools = ["NODE_USE_ENV_PROXY", "MAVEN_OPTS", "GRADLE_OPTS"]
    tools += surroundings.own_tool_variables()
    assert sorted(names) == sorted([*own, *ways, *lower, *tools])


async def test_tags_and_the_default_branch_are_known_as_in_a_clone(here: Town) -> None:
    checkout, _ = await push(here)
    await checkout.git("tag", "old", "HEAD^")
    await checkout.git("tag", "--annotate", "--message=1.0", "v1.0", "HEAD^")
    trunk = "HEAD^:refs/remotes/origin/trunk"
    await checkout.git("push", "--quiet", "origin", "old", "v1.0", trunk)
    here.judge(
        'test "$(git describe)" = "v1.0-1-g$(git rev-parse --short HEAD)" &&'
        'test "$(git merge-base HEAD origin/main)" = "$(git rev-parse old)" &&'
        "git diff --quiet origin/main main &&"
        "git diff --quiet origin/trunk... -- nothing &&"
        "git rev-parse v1.0^{commit} origin/HEAD && git fsck --connectivity-only"
    )
    for number in range(2):  # the second job has the first one's files
        commit = await checkout.commit("other.txt", str(number))
        await checkout.git("reset", "--quiet", "--soft", "HEAD^^")
        await checkout.git("commit", "--quiet", "--message", f"{number}")
        commit = await checkout.git("rev-parse", "HEAD")
        to = f"HEAD:refs/heads/brat/queue/main/{number}"
        await checkout.git("push", "--quiet", "origin", to)

        check = await judged(here, commit)

        assert check["conclusion"] == "success", check["output"]


async def test_the_checkout_has_no_remote_and_is_gone_afterwards(here: Town) -> None:
    here.judge("git remote -v; git status --short --ignored; pwd")

    (folder,) = (await found(here))["output"]["text"].split()

    assert folder.startswith(str(here.forge.folder))
    assert list((here.forge.folder / "ci").iterdir()) == []


async def test_only_the_queue_is_judged(here: Town) -> None:
    here.judge("true")
    others = ("main", "convoy/a/task-1", "brat/queued", "x/brat/queue/main/a")
    left = [(await push(here, branch, to=branch))[1] for branch in others]

    assert (await found(here, "judged"))["conclusion"] == "success"
    for commit in left:
        assert await checks(here, commit) == []


async def test_a_commit_that_failed_is_judged_again_when_pushed_again(
    here: Town, tmp_path: Path
) -> None:
    here.judge(f"test -e {tmp_path / 'open'}", box="off")
    checkout, commit = await push(here)
    await judged(here, commit)
    (tmp_path / "open").touch()
    await checkout.git("push", "--quiet", "origin", "HEAD:refs/heads/brat/queue/main/y")

    await stood(here, commit, "success", "failure", of="conclusion")


async def test_what_is_red_beside_a_green_one_is_red_without_another_look(
    here: Town, tmp_path: Path
) -> None:
    waits = f"until test -e {tmp_path}/$(cat work.txt); do sleep 0.05; done"
    here.judge(f"{waits}; ! grep bad work.txt", box="off")
    _, main = await push(here, "0", to="main")
    _, good = await push(here, "good", to="brat/queue/main/good")
    _, bad = await push(here, "bad", to="brat/queue/main/bad")
    await stood(here, bad, "in_progress")
    for commit, word, ends in ((good, "good", "success"), (bad, "bad", "failure")):
        (tmp_path / word).touch()
        assert (await judged(here, commit))["conclusion"] == ends
    assert await checks(here, main) == []


async def test_where_ci_is_red_without_a_change_the_next_red_says_so(
    here: Town, tmp_path: Path
) -> None:
    mended = tmp_path / "mended"
    here.judge(f"test -e {mended} || exec cat nothing; ! grep bad work.txt", box="off")
    _, main = await push(here, "0", to="main")
    said = (await found(here, "1"))["output"]["text"]
    assert (await judged(here, main))["conclusion"] == "failure"
    assert "without this change" not in said

    said = (await found(here, "2"))["output"]["text"].splitlines()
    assert said[-1] == (
        f"CI also failed without this change, on main at {main[:10]}: {said[0]}"
    )

    check = await found(here, "3")
    assert check["conclusion"] == "action_required"
    asked = f"main itself fails in the same way at {main[:10]}: {said[0]}"
    assert check["output"]["summary"] == asked
    assert (await found(here, "bad"))["conclusion"] == "action_required"

    mended.touch()
    assert (await found(here, "good"))["conclusion"] == "success"
    for number in (4, 5):  # the first asks once more, and both hear that main is green
        check = await found(here, f"bad {number}")
        assert check["conclusion"] == "failure"
        assert "without this change" not in check["output"]["text"]


async def test_a_red_one_is_judged_though_what_it_waits_for_was_forgotten(
    here: Town, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    base = f"grep -qx 0 work.txt && cat {gate}"
    here.judge(f"grep -q good work.txt && exit 0; {base}; exit 1", box="off", slots=4)
    await push(here, "0", to="main")
    await found(here, "1")
    _, second = await push(here, "2", to="brat/queue/main/2")
    await found(here, "good")

    await until(lambda: opened(gate))

    assert (await judged(here, second))["conclusion"] == "failure"


async def test_candidates_wait_for_a_slot_and_may_be_given_up(
    here: Town, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    here.judge(f"cat {gate}", slots=1, box="off")
    _, first = await push(here, "1", to="brat/queue/main/1")
    checkout, second = await push(here, "2", to="brat/queue/main/2")
    await stood(here, first, "in_progress")
    (waiting,) = await checks(here, second)
    await checkout.git("push", "--quiet", "origin", ":refs/heads/brat/queue/main/2")
    (given_up,) = await checks(here, second)
    await until(lambda: opened(gate))

    assert (waiting["status"], given_up["status"]) == ("queued", "completed")
    assert (await judged(here, first))["conclusion"] == "success"
    assert (await judged(here, second))["conclusion"] == "cancelled"


async def test_a_run_that_nobody_needs_ends_at_once_with_its_children(
    here: Town, tmp_path: Path
) -> None:
    marks = tmp_path / "marks"
    command = f"sleep 600 & echo $! > {marks}.new; mv {marks}.new {marks}; wait"
    here.judge(command, box="off")
    checkout, commit = await push(here)

    await until(marks.is_file)
    queue = ("push", "--quiet", "origin")
    await checkout.git(*queue, "HEAD:refs/heads/brat/queue/main/y")
    await checkout.git(*queue, ":refs/heads/brat/queue/main/x")
    (needed,) = await checks(here, commit)
    child = int(marks.read_text())
    still = psutil.Process(child).is_running()

    await checkout.git(*queue, ":refs/heads/brat/queue/main/y")

    check = await judged(here, commit)
    assert (needed["status"], still) == ("in_progress", True)
    ended = check["conclusion"], check["output"]["summary"]
    assert ended == ("cancelled", "The branch no longer exists.")
    assert not psutil.pid_exists(child) or (
        psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    )


def opened(gate: Path) -> bool:
    """Let one reader of a pipe go on; False while there is none."""
    try:
        os.close(os.open(gate, os.O_WRONLY | os.O_NONBLOCK))
    except OSError:
        return False
    return True


async def test_what_the_forge_left_or_did_not_judge_in_time_is_begun_at_its_start(
    forge: Forge, source: Path, tmp_path: Path
) -> None:
    tokens = settle_in(forge, source)
    marks = tmp_path / "marks"
    marks.touch()
    async with town(forge, tokens, tmp_path) as here:
        _, unseen = await push(here, "unseen", to="brat/queue/main/unseen")
        assert await checks(here, unseen) == [], "nothing judged then"
        command = f"echo $$ >> {marks}; test $(wc -l < {marks}) -ge 2 || sleep 600"
        here.judge(command, box="off")
        _, commit = await push(here)

        await until(marks.read_text)
        first = int(marks.read_text())
        assert psutil.pid_exists(first)

    assert not psutil.pid_exists(first)
    async with town(forge, tokens, tmp_path) as here:
        assert (await judged(here, commit))["conclusion"] == "success"
        assert (await judged(here, unseen))["conclusion"] == "success"


async def test_a_command_that_cannot_run_asks_for_a_person(here: Town) -> None:
    """Unless the commit itself has changed that program: then it is red."""
    for command, why in (
        ("tester-nobody-has -q", "127 (a program was not found)"),
        (": > no-program; ./no-program", "126 (it cannot be executed)"),
    ):
        here.judge(command)
        check = await found(here, why[:3])
        assert check["conclusion"] == "action_required"
        said = f"`{command}` exited with status {why}: sh: "
        assert check["output"]["summary"].startswith(said)
        assert "or set another [ci] command." in check["output"]["summary"]

    here.judge("./work.txt")
    check = await found(here)
    assert check["conclusion"] == "failure"
    assert check["output"]["summary"] == "`./work.txt` exited with status 126."


async def with_submodule(here: Town, url: str) -> Checkout:
    """Return a checkout that has committed .gitmodules and a submodule's commit."""
    checkout = await here.clone()
    lib = checkout.folder.parent / "lib"
    await checkout.git("init", "--quiet", str(lib))
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    commit = ("commit", "--quiet", "--allow-empty", "--message=Lib")
    await checkout.git("-C", str(lib), *who, *commit)
    tip = await checkout.git("-C", str(lib), "rev-parse", "HEAD")
    listed = f'[submodule "lib"]\n\tpath = vendor/my lib\n\turl = {url}\n'
    (checkout.folder / ".gitmodules").write_text(listed)
    (checkout.folder / "vendor" / "my lib").mkdir(parents=True)
    await checkout.git("add", ".gitmodules")
    entry = f"160000,{tip.strip()},vendor/my lib"
    await checkout.git("update-index", "--add", "--cacheinfo", entry)
    await checkout.git("remote", "remove", "origin")
    return checkout


async def test_a_submodule_is_there_when_ci_runs(here: Town) -> None:
    checkout = await with_submodule(here, "../lib")
    here.judge('git -C "vendor/my lib" log --format=%s', checkout=str(checkout.folder))
    await checkout.git("submodule", "--quiet", "init")

    check = await found(here, "x", checkout)

    assert (check["conclusion"], check["output"]["text"]) == ("success", "Lib\n")


EMPTY = (
    "vendor/my lib is empty in your checkout; to fetch it, run "
    "`git submodule update --init -- 'vendor/my lib'`.\n"
)
ELSEWHERE = "https://forge.example/lib.git"
ANOTHER = (
    f"it now comes from {{folder}}/lib, but your checkout uses {ELSEWHERE}: run "
    "`git submodule sync -- 'vendor/my lib'` if you trust that address."
)


@pytest.mark.parametrize(
    ("url", "then", "why"),
    [
        # another project of the person is no submodule
        ("../lib", ("config", "submodule.lib.url", ELSEWHERE), ANOTHER),
        ("file:///nowhere/at/all", ("submodule", "--quiet", "init"), ""),
    ],
)
async def test_a_submodule_that_the_person_does_without_stops_no_ci(
    here: Town, url: str, then: tuple[str, ...], why: str
) -> None:
    checkout = await with_submodule(here, url)
    here.judge("ls -A 'vendor/my lib'", checkout=str(checkout.folder))

    without = await found(here, "1", checkout)
    await checkout.git(*then)
    having = await found(here, "2", checkout)

    assert (without["conclusion"], without["output"]["text"]) == ("success", EMPTY)
    assert having["conclusion"] == "action_required"
    said = "the submodule vendor/my lib cannot be fetched: "
    said += why.format(folder=checkout.folder.parent)
    assert having["output"]["summary"].startswith(said)


async def test_another_command_judges_what_is_pushed_from_now_on(here: Town) -> None:
    here.judge("echo old; tester-nobody-has")
    _, asking = await push(here, "1", to="brat/queue/main/1")
    await judged(here, asking)
    told = {"command": "echo new", "slots": 1}

    for by, status in (("bot", 403), ("alice", 204)):
        who = {"Authorization": f"Bearer {here.tokens[by]}"}
        answer = await here.client.put(f"{here.url}/_ci/{REPO}", headers=who, json=told)
        assert answer.status_code == status
    assert (await found(here, "2"))["output"]["text"] == "new\n"
    await stood(here, asking, "success", of="conclusion")


# --- how many run at once, by the machine's cores and its quota -----------------------


def test_a_containers_quota_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = set(range(64))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: own, raising=False)
    quota = tmp_path / "cpu.max"
    assert cores(quota) == 64
    for held, seen in (("max 100000", 64), ("250000 100000", 2), ("50000 100000", 1)):
        quota.write_text(held)
        assert cores(quota) == seen
    quota.write_text("")
    assert cores(quota) == 64
