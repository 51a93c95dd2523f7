"""Clones as git makes them: agents start from each, or a sentence says what to do."""

import asyncio
import os
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import psutil
import pytest
from filelock import FileLock

from brat.commands.init_repository import init
from brat.commands.print_diff import pull
from brat.doctor.checkup import LEAST, check_up, checked_machine, room, tools
from brat.forge.resources.forge_records import Ci
from brat.forge.service.programs import SECRET
from brat.local.checkout_sync import CheckoutSync
from brat.local.forge_process import served
from brat.local.start_checks import branch_lacks, ci_of, clone_lacks, model_keys
from brat.repository import registration as registrations
from brat.repository.checkout import Checkout, find, require_clean
from brat.repository.registration import Registration, Source, register
from brat.status.local_attention import here, stands_still
from convoy.config import Config, load
from convoy.model.state import State
from grite.errors import BratError
from tests.runner.job import CLEAN
from tests.world.patience import patient
from tests.world.program import ran
from tests.world.rules import Rules, spec
from tests.world.terminal import BRAT

LEGAL = (
    *("feature/x", "brats", "brat/own", "ветка", "100%", "#1", "x@y", "a+b", "(x)"),
    *("a{b}", "a;b", "a|b", "$(id)", "it's", 'a"b', "x/HEAD", "y" * 180),
)
OURS = ("brat", "convoy", "brat/queue", "brat/queue/x", "convoy/x/base", "refs/x")


def git(cwd: Path, *words: str, check: bool = True) -> str:
    done = subprocess.run(
        ("git", *words), cwd=cwd, env=CLEAN, check=check, stdout=subprocess.PIPE
    )
    return done.stdout.decode().strip()


def commit(cwd: Path, text: str, name: str = "a.txt") -> None:
    (cwd / name).parent.mkdir(exist_ok=True)
    (cwd / name).write_text(text)
    git(cwd, "add", name)
    git(cwd, "commit", "--quiet", "--message", text or name)


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    where = tmp_path / "origin"
    where.mkdir()
    git(where, "init", "--quiet", "--initial-branch=main")
    git(where, "config", "uploadpack.allowFilter", "true")
    commit(where, "one\n")
    commit(where, "two\n")
    return where


def landed_in(bare: Path) -> str:
    """Commit on the branch of the forge's repository, as a convoy does."""
    tree, tip = "HEAD^{tree}", git(bare, "rev-parse", "HEAD")
    landed = git(bare, "commit-tree", "-p", tip, "-m", "landed", tree)
    git(bare, "update-ref", "HEAD", landed)
    return landed


def cloned(origin: Path, *options: str) -> Path:
    where = origin.parent / f"clone-{len([*origin.parent.iterdir()])}"
    git(origin, "clone", "--quiet", *options, f"file://{origin}", str(where))
    return where


def lacks(where: Path) -> list[str]:
    return [*map(str, clone_lacks(find(where), None))]


def mended(where: Path, mend: str) -> None:
    """Hold that nothing begins before git's own command mends a clone; type it."""
    (said,) = lacks(where)
    assert f"`git {mend}`" in said
    with pytest.raises(BratError, match=mend.rsplit(maxsplit=1)[-1]):
        init(where)
    assert not (where / ".git/brat").exists()
    git(where, *mend.split())


def test_a_clone_that_is_not_whole_is_named_with_the_command_that_makes_it_whole(
    origin: Path,
) -> None:
    for options, mend in (
        ("--depth=1", "fetch --unshallow"),
        ("--filter=tree:0", "fetch --refetch --no-filter"),
        ("--filter=blob:none --sparse", "fetch --refetch --no-filter"),
        ("", ""),
        ("--sparse", ""),
        ("--single-branch --no-tags", ""),
    ):
        where = cloned(origin, *options.split())
        if options == "--filter=tree:0":
            git(where, "config", "extensions.partialClone", "origin")  # as by old git
        if mend:
            mended(where, mend)
        assert lacks(where) == [], options
        init(where)


def test_a_configuration_that_a_sparse_checkout_hides_is_no_default(
    origin: Path,
) -> None:
    commit(origin, '[ci]\ncommand = "true"\n', ".brat/config.toml")
    where = cloned(origin, "--sparse")

    mended(where, "sparse-checkout add .brat")
    assert lacks(where) == []
    (where / ".brat/config.toml").unlink()  # by the person: then it is meant so
    assert lacks(where) == []


def test_what_an_agent_would_start_without_is_said_first(
    origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (origin / ".brat").mkdir()
    script, other = origin / ".brat/setup.sh", origin / ".brat/config.yml"
    other.touch()
    monkeypatch.setenv("BRAT_SHOWN", f"{origin}:~/no-such-folder")
    misnamed, unseen = lacks(origin)
    monkeypatch.delenv("BRAT_SHOWN")
    other.rename(origin / ".brat/config.toml")
    said = []
    shebangs = ("#!/no/sh\n", "#!/usr/bin/env no-sh\n", "#!/bin/sh -e\n")
    for text in ("set -e\r\n", *shebangs):
        script.write_text(text, newline="")
        script.chmod(0o755)
        said += lacks(origin)

    assert misnamed.startswith("brat does not read .brat/config.yml: move its settings")
    assert unseen.startswith("BRAT_SHOWN names ~/no-such-folder, which does not exist")
    assert [each.partition(":")[2].partition(":")[0] for each in said] == [
        " .brat/setup.sh has Windows line endings",
        " .brat/setup.sh starts with /no/sh, which was not found",
        " .brat/setup.sh starts with no-sh, which was not found",
    ]


def test_ci_stays_as_long_as_the_file_that_it_was_found_by(origin: Path) -> None:
    commit(origin, "", "go.mod")
    checkout, known = registered(origin)
    (origin / "Makefile").write_text("test:\n\ttrue\n")
    git(origin, "add", "Makefile")
    before = ci_of(checkout, Config(), known).command
    git(origin, "rm", "--quiet", "--cached", "go.mod")

    after = ci_of(checkout, Config(), known).command
    assert (before, after) == ("go test ./...", "make test")


def test_a_branch_in_the_place_of_ours_is_refused(origin: Path) -> None:
    for name in OURS:
        git(origin, "switch", "--quiet", "--create", name)
        (said,) = lacks(origin)
        assert name in said
        assert "git branch -m" in said
        git(origin, "switch", "--quiet", "main")
        git(origin, "branch", "--quiet", "-D", name)


def registered(where: Path) -> tuple[Checkout, registrations.Registration]:
    init(where)
    checkout = find(where)
    return checkout, registrations.read(checkout.folder)


def test_agents_start_from_the_branch_of_the_last_init_and_the_printed_line_works(
    origin: Path,
) -> None:
    for name in LEGAL:
        git(origin, "switch", "--quiet", "--create", name)
        commit(origin, f"{name}\n")
        before = find(origin)
        if known := registrations.known(before.folder):
            (said,) = map(str, branch_lacks(before, known))
            assert f"on the branch {name}, but agents start from {known.branch}" in said
            assert "or `brat init` to make" in said
            with FileLock(before.folder / registrations.FORGE_FOLDER / "lock"):
                (said,) = map(str, branch_lacks(before, known))
            assert "or stop brat and run `brat init` to make" in said

        checkout, known = registered(origin)  # no other branch is refused

        assert [*branch_lacks(checkout, known)] == []
        bare = registrations.bare_path(checkout.folder, known)
        assert git(bare, "symbolic-ref", "HEAD") == f"refs/heads/{name}"
        assert git(bare, "rev-parse", "HEAD") == git(origin, "rev-parse", "HEAD")
        landed = landed_in(bare)
        for on in ("main", name):
            git(origin, "switch", "--quiet", on)
            assert pull(origin) == 0
            assert git(origin, "rev-parse", f"refs/heads/{name}") == landed


def test_what_waits_here_is_told_with_what_helps_until_it_is_mended(
    origin: Path,
) -> None:
    checkout, known = registered(origin)
    state = Rules().planned(spec(1)).state
    landed_in(registrations.bare_path(checkout.folder, known))
    commit(origin, "own\n")
    (origin / "a.txt").write_text("half done\n")

    assert stands_still(origin, state)
    assert not stands_still(origin, State())
    with FileLock(checkout.folder / registrations.FORGE_FOLDER / "lock"):
        assert not stands_still(origin, state)
    (beside,) = here(origin, State())
    git(origin, "stash", "--quiet")
    (clean,) = here(origin, State())

    assert beside.why == f"{clean.why}; first commit or stash your changes"
    assert beside.commands == clean.commands
    assert clean.commands == ("brat pull",)

    pull(origin)
    file = origin / ".brat/config.toml"
    file.parent.mkdir()
    for text, faults in (("[ci]", 0), ("[cx]", 1), ("[cx]", 1), ("[ci]", 0)):
        file.write_text(text)
        assert len(here(origin, State())) == faults, text
    file.unlink()
    file.mkdir()
    (found,) = here(origin, State())
    assert "must be a file" in found.why


def test_landed_work_is_brought_whatever_has_its_name_and_may_be_fetched(
    origin: Path,
) -> None:
    git(origin, "tag", "main", "HEAD^")
    checkout, known = registered(origin)
    CheckoutSync(checkout=checkout, known=known, url="", tell=print).take_up()
    bare = registrations.bare_path(checkout.folder, known)
    tip = git(bare, "rev-parse", "HEAD")
    landed = landed_in(bare)

    git(origin, "branch", "other", tip)
    for name in ("brat.nothing", "protocol.file.allow", "protocol.allow"):
        git(origin, "config", name, "never")
        for on in ("other", "main"):
            git(origin, "switch", "--quiet", on)
            assert pull(origin) == 0
            assert git(origin, "rev-parse", "refs/heads/main") == landed
            git(origin, "reset", "--quiet", "--hard", tip)
            git(origin, "update-ref", "refs/heads/main", tip)
        git(origin, "config", "--unset", name)


def test_a_checkout_in_which_no_agent_can_start_is_said_with_gits_own_way_out(
    origin: Path,
) -> None:
    odd = origin.parent / "odd"
    git(origin, "init", "--quiet", "--object-format=sha256", str(odd))
    commit(odd, "one\n")
    with pytest.raises(BratError, match="uses sha256 object IDs"):
        find(odd)

    git(origin, "bisect", "start", "HEAD", "HEAD~1")
    git(origin, "switch", "--quiet", "--detach")
    with pytest.raises(BratError, match="or run `git bisect reset`"):
        find(origin)
    git(origin, "bisect", "reset")

    git(origin, "rebase", "--quiet", "--exec=false", "HEAD^", check=False)
    with pytest.raises(BratError, match="or run `git rebase --continue`"):
        find(origin)


def test_a_linked_worktree_shares_what_brat_knows(origin: Path) -> None:
    _, known = registered(origin)
    git(origin, "worktree", "add", "--quiet", "-b", "side", "../linked")

    linked = find(origin.parent / "linked")

    assert registrations.read(linked.folder) == known
    (said,) = map(str, branch_lacks(linked, known))
    assert "on the branch side, but agents start from main" in said
    assert f"run `cd {origin}`, or `brat init`" in said
    landed = landed_in(registrations.bare_path(linked.folder, known))
    assert pull(linked.top) == 0
    assert git(origin, "rev-parse", "HEAD") == landed
    git(origin, "branch", "--quiet", "--move", "main", "new")
    (said,) = map(str, branch_lacks(linked, known))
    assert said.endswith(
        "start from main: run `brat init` to make agents start from side"
    )


def test_a_name_in_any_encoding_is_a_persons(origin: Path) -> None:
    for name, login in (("Jürgen", "j-rgen"), ("J\udcfcrgen", "you")):
        git(origin, "config", "user.name", name)
        assert find(origin).person() == login


def test_what_a_clone_has_that_others_lack_is_named(
    origin: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files that git ignores, and a log that a forge's other clones may write to."""
    (origin / ".git/info/exclude").write_text("*.local.md\n.env*\nout/\nx.log\n")
    for name in (".env", "CLAUDE.local.md", "x.log", "node.local.md/a"):
        (origin / name).parent.mkdir(exist_ok=True)
        (origin / name).touch()

    init(origin)

    said = "git ignores .env, CLAUDE.local.md here, so agents and CI do not get a copy"
    assert f"note: {said}" in capsys.readouterr().err
    for remote in ("", "https://github.com/ann/app"):
        if remote:
            git(origin, "remote", "add", "origin", remote)
        check_up(origin, fix=False, engines=False, sweep=lambda: None)
        told = capsys.readouterr().err
        assert said in told
        assert ("the log has no signing key" in told) == bool(remote)


def test_the_tags_of_the_branch_are_brought_and_no_others(origin: Path) -> None:
    checkout, known = registered(origin)
    git(origin, "tag", "moves", "HEAD^")
    git(origin, "tag", "--annotate", "--message=1", "v1", "HEAD^")
    git(origin, "switch", "--quiet", "--orphan", "private")
    commit(origin, "secret\n")
    git(origin, "tag", "private")
    git(origin, "switch", "--quiet", "main")
    bare = registrations.bare_path(checkout.folder, known)
    sync = CheckoutSync(checkout=checkout, known=known, url="", tell=print)

    for _ in range(2):
        sync.take_up()

        assert git(bare, "tag").split() == ["moves", "v1"]
        for tag in ("moves", "v1"):
            assert git(bare, "rev-parse", tag) == git(origin, "rev-parse", tag)
        git(origin, "tag", "--force", "moves", "HEAD")
    git(origin, "tag", "--delete", "v1")
    git(origin, "tag", "v1/new")
    sync.take_up()
    assert git(bare, "tag").split() == ["moves", "v1/new"]


@pytest.mark.parametrize("noted", ["HEAD", ""])
def test_from_another_branch_the_default_one_of_the_origin_is_brought(
    origin: Path, noted: str
) -> None:
    where = cloned(origin)
    git(where, "switch", "--quiet", "--create", "feature", "HEAD^")
    git(where, "tag", "released", "main")
    if not noted:
        git(where, "remote", "set-head", "origin", "--delete")
    theirs, tag = "refs/remotes/origin/main", "refs/tags/released"
    for branch, names in (("feature", [theirs, tag]), ("main", [tag])):
        git(where, "switch", "--quiet", branch)
        checkout, known = registered(where)
        CheckoutSync(checkout=checkout, known=known, url="", tell=print).take_up()

        bare = registrations.bare_path(checkout.folder, known)
        listed = ("for-each-ref", "--format=%(refname)", "refs/tags", "refs/remotes")
        assert git(bare, *listed).split() == names
        main = git(where, "rev-parse", "origin/main")
        assert {git(bare, "rev-parse", each) for each in names} == {main}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
def test_a_checkout_of_another_user_is_used_where_the_persons_git_uses_it(
    origin: Path, tmp_path: Path
) -> None:
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}

    def given_away() -> None:
        for each in (origin, *origin.rglob("*")):
            os.chown(each, 12345, 12345)

    given_away()
    for allowed in ("", "*", str(origin)):
        listed = f"[safe]\n\tdirectory = {allowed}\n" if allowed else ""
        (tmp_path / ".gitconfig").write_text(listed)

        done = ran((BRAT, "init"), cwd=origin, env=env)

        assert done.returncode == (not allowed), done.stderr
        assert (origin / ".git/brat").is_dir() == bool(allowed)
        said = f"git config --global --add safe.directory {origin}"
        assert allowed or [said in each for each in done.stderr.splitlines()] == [True]

    given_away()  # where another user ran brat, nothing begins
    done = ran((BRAT, "mayor", "start", "--task", "x"), cwd=origin, env=env)
    folder = origin / ".git/brat"
    assert f"another user ran brat here, and {folder} is not yours: " in done.stderr
    assert f"`sudo chown -R 0 {folder}`" in done.stderr
    assert done.returncode == 1


# --- looking at a person's checkout changes nothing in it -----------------------------


@pytest.fixture
def checkout(origin: Path) -> Checkout:
    commit(origin, "one\n", "b c.txt")
    commit(origin, "one\n", "ü.txt")
    return find(origin)


def test_what_differs_from_the_commit_is_changed_and_not_what_was_only_touched(
    checkout: Checkout,
) -> None:
    index = checkout.top / ".git/index"
    before = index.read_bytes()

    for second in range(5):
        os.utime(checkout.top / "a.txt", (second, second))
        assert checkout.changed_files() == ()

    assert index.read_bytes() == before
    (checkout.top / "ü.txt").write_text("two\n")
    (checkout.top / "a.txt").rename(checkout.top / "d.txt")
    (checkout.top / "b c.txt").write_text("two\n")
    git(checkout.top, "add", "b c.txt")
    assert checkout.changed_files() == ("a.txt", "b c.txt", "ü.txt")


def test_what_a_submodule_s_folder_holds_is_no_change(checkout: Checkout) -> None:
    allowed = ("-c", "protocol.file.allow=always")
    git(checkout.top, *allowed, "submodule", "--quiet", "add", "./", "sub")
    git(checkout.top, "commit", "--quiet", "--message", "Add a submodule")
    (checkout.top / "sub/a.txt").write_text("new\n")

    assert checkout.changed_files() == ()

    git(checkout.top / "sub", "commit", "--quiet", "--all", "--message", "Another")
    with pytest.raises(BratError) as told:
        require_clean(checkout)
    assert str(told.value).endswith(
        "(sub): agents start from commits, so first run `git submodule update -- sub`, "
        "or commit the submodule's new commit"
    )


@pytest.mark.layer("landing")
def test_of_two_starts_at_once_the_second_uses_what_the_first_made(
    checkout: Checkout,
) -> None:
    each_in_turn = Barrier(2, timeout=patient(20))
    source = Source(path=checkout.top, branch="main", name="app", person="ann")

    async def start() -> tuple[Registration, str]:
        each_in_turn.wait()
        known = register(checkout.folder, source)
        each_in_turn.wait()
        async with served(checkout.folder, Ci(), {}, soon=True) as forge:
            each_in_turn.wait()
            assert not forge.process or psutil.Process(forge.process.pid).children()
            return known, forge.url

    with ThreadPoolExecutor(2) as threads:
        starts = [threads.submit(asyncio.run, start()) for _ in range(2)]

    one, other = (each.result() for each in starts)
    assert one == other


# --- what the machine has for agents --------------------------------------------------


def test_a_full_disk_is_a_fault_and_what_agents_have_of_a_terminal_is_named(
    tmp_path: Path,
) -> None:
    full, enough = room(LEAST - 1, tmp_path), room(LEAST, tmp_path)

    assert full.grade == "fault"
    assert full.said.startswith("only 1.0 GB")
    assert str(tmp_path) in full.mend
    assert enough.grade == "ok"
    has_room, has_tools = checked_machine(tmp_path)
    assert "GB of disk space free for sessions" in has_room.said
    assert "agents and CI get PATH" in has_tools.said

    (tmp_path / ".npmrc").touch()

    found = tools({"JAVA_HOME": "/opt/java"}, tmp_path)

    assert found.grade == "ok"
    assert "get PATH, JAVA_HOME from your terminal, but not ~/.npmrc" in found.said


CONFIG = '[engine.default]\ntype = "codex"\nsecret = "TEAM_KEY"\n'


def test_only_what_engines_and_the_configuration_name_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("ANTHROPIC_API_KEY", "TEAM_KEY", "BRAT_MODEL_URL"):
        monkeypatch.setenv(name, f"value of {name}")
    for name in ("GITHUB_TOKEN", "AWS_SECRET_ACCESS_KEY", f"{SECRET}X"):
        monkeypatch.setenv(name, "not theirs")
    monkeypatch.setenv("GEMINI_API_KEY", "")
    for name in ("OPENAI_API_KEY", "COPILOT_GITHUB_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"):
        monkeypatch.delenv(name, raising=False)

    monkeypatch.chdir("/usr")
    monkeypatch.setenv("BRAT_SHOWN", "/opt/tools:lib/../share:")

    found = model_keys(load(CONFIG, source="x"))

    shown = {"BRAT_SHOWN": "/opt/tools:/usr/share"}
    keys = {"ANTHROPIC_API_KEY", "TEAM_KEY", "BRAT_MODEL_URL"}
    assert found == {name: f"value of {name}" for name in keys} | shown
