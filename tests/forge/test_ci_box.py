"""What CI finds of the machine of the person who runs it, and what it leaves there."""

import os
import signal
import threading
import venv
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from brat.forge.resources.forge_records import Ci
from brat.forge.service.ci_checkout import WORK, CiBox, keep_tree, take_kept
from brat.forge.service.local_ci import FAKED
from brat.forge.service.programs import HIDDEN, SECRET, SHOWN
from convoy.text.project_tests import headline
from runner.box import surroundings
from tests.forge.test_ci import found, judged
from tests.world.forge import Checkout, Json, Town, until

TOOLS: tuple[tuple[str, dict[str, str], str], ...] = (
    # what stands in the home, a variable of the terminal, and what then ends with 0
    ("venv/bin/only-here", {}, "only-here"),
    ("venv/bin/pytest", {}, "pytest | grep -q mine"),
    ("", {"VIRTUAL_ENV": "venv"}, 'test -x "$VIRTUAL_ENV/bin/pytest"'),
    (".rustup/settings.toml", {}, 'cat "$RUSTUP_HOME/settings.toml"'),
    ("", {"RUSTUP_AUTO_INSTALL": "0"}, 'test "${RUSTUP_AUTO_INSTALL##*/}" = 0'),
    (".pyenv/version", {}, 'cat "$PYENV_ROOT/version"'),
    (".nvm/nvm.sh", {}, '. "$NVM_DIR/nvm.sh"'),
    (".asdf/asdf.sh", {}, '. "$ASDF_DIR/asdf.sh"'),
    (".local/share/uv/python/it", {}, 'cat "$UV_PYTHON_INSTALL_DIR/it"'),
    (".elan/it", {}, 'cat "$ELAN_HOME/it"'),
    (".proto/it", {}, 'cat "$PROTO_HOME/it"'),
    (".local/share/pypoetry/it", {}, "grep mine ~person/.local/share/pypoetry/it"),
    (".pixi/it", {}, "grep mine ~person/.pixi/it"),
    ("jdk/release", {"JAVA_HOME": "jdk"}, 'cat "$JAVA_HOME/release"'),
    (".cargo/credentials.toml", {}, "! grep mine ~person/.cargo/credentials.toml"),
    ("secret", {"M2_HOME": "."}, "! grep mine ~person/secret"),
    (".ssh/id", {"GRADLE_HOME": ".ssh"}, "! grep mine ~person/.ssh/id"),
    ("load/x.py", {"PYTHONPATH": "load"}, 'test -z "$PYTHONPATH"'),
    ("", {}, '! echo "$MAVEN_OPTS" | grep -v "https.proxyPort=${HTTPS_PROXY##*:} "'),
    ("", {}, '! test "$GRADLE_OPTS" != "$MAVEN_OPTS"'),
    ("", {"GITHUB_TOKEN": "venv"}, 'test -z "$GITHUB_TOKEN"'),
    ("shown/it", {SECRET + SHOWN: "shown"}, "grep mine ~person/shown/it"),
    ("shown/no", {SECRET + HIDDEN: "shown/no"}, "! grep mine ~person/shown/no"),
    (
        "",
        {},
        (
            "cd $(mktemp -d) && git init -q && git commit -q --allow-empty -m x &&"
            " git log --format=%an,%ae trunk | grep -F 'P \\ \"at\" x,p@x'"
        ),
    ),
    ("", {}, "git config --global a.b c && ! git config credential.helper"),
    ("", {}, '! test "${#TMPDIR}" -gt 60'),  # sockets are bound in it
)


@pytest.mark.parametrize("box", ["on", "off"])
async def test_ci_finds_the_tools_of_the_persons_terminal_and_nothing_else(
    box: str, here: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "person"
    for name in surroundings.TOOL_HOMES:
        monkeypatch.delenv(name, raising=False)
    for file, variables, _ in TOOLS:
        if file:
            (home / file).parent.mkdir(parents=True, exist_ok=True)
            (home / file).write_text("#!/bin/sh\necho mine\n")
            (home / file).chmod(0o755)
        for name, value in variables.items():
            monkeypatch.setenv(name, str(home / value))
    (home / ".config/git").mkdir(parents=True)
    (home / ".config/git/config").write_text(
        '[user]\n\tname = "P \\\\ \\"at\\" x"\n\temail = p@x\n'
        "[init]\n\tdefaultBranch = trunk\n[credential]\n\thelper = mine\n"
    )
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("PATH", f"{home}/venv/bin{os.pathsep}{os.environ['PATH']}")
    tried = [each.replace("~person", str(home)) for _, _, each in TOOLS]
    seen = tried if box == "on" else [each for each in tried if each[:2] != "! "]
    here.judge("\n".join(f"( {each} ) || exit 1" for each in seen), box=box)

    check = await found(here)

    assert check["conclusion"] == "success", check["output"]


@pytest.mark.parametrize("box", ["on", "off"])
async def test_an_editable_install_means_the_candidate_and_not_the_persons_tree(
    box: str, here: Town, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, mine = tmp_path / "person", tmp_path / "person/tree/src"
    venv.create(home / "venv")
    [packages] = (home / "venv").glob("lib/python3*/site-packages")
    (packages / "my_app-1.dist-info").mkdir()
    told = '{"url": "file:///person/tree", "dir_info": {"editable": true}}'
    (packages / "my_app-1.dist-info/direct_url.json").write_text(told)
    (packages / "my_app.pth").write_text(f"{mine}\n")
    mine.mkdir(parents=True)
    (mine / "my_app.py").write_text("raise SystemExit('the person's tree')\n")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("VIRTUAL_ENV", str(home / "venv"))
    monkeypatch.setenv("PATH", f"{home}/venv/bin{os.pathsep}{os.environ['PATH']}")
    here.judge('python -c "import my_app; print(my_app.which)"', box=box)

    checkout = await here.clone()
    await checkout.commit("pyproject.toml", '[project]\nname = "My.App"\n')
    await checkout.commit("src/my_app.py", "which = 'the candidate'\n")
    check = await found(here, "x", checkout)

    assert check["conclusion"] == "success", check["output"]
    assert "the candidate" in check["output"]["text"]


async def test_a_job_that_took_too_long_leaves_no_process(here: Town) -> None:
    sleep = ["sleep", f"600.{uuid4().int}"]
    here.judge(f"{' '.join(sleep)} & wait", timeout_s=3)

    assert (await found(here))["conclusion"] == "timed_out"

    def lines() -> list[list[str]]:
        return [each.info["cmdline"] for each in psutil.process_iter(["cmdline"])]

    await until(lambda: sleep not in lines())


async def test_a_host_that_ci_may_not_reach_is_what_it_says_last(here: Town) -> None:
    here.judge("python3 -c 'import urllib.request as r; r.urlopen(\"http://a.b\")'")

    output = (await found(here))["output"]

    listed = "which is not listed; `[ci] egress` lists what is allowed"
    told = f"cannot reach a.b:80, {listed}"
    assert headline(output["text"]) == f"brat: {told}"
    assert FAKED in output["text"]


@pytest.mark.parametrize("when", ["before", "while", "after"])
def test_a_job_that_is_cancelled_leaves_no_process(when: str, tmp_path: Path) -> None:
    job = tmp_path / "job"
    job.mkdir()
    box = CiBox(Ci(command="true"), job, tmp_path, tmp_path)
    before = {*psutil.Process().children()}
    opening = threading.Thread(target=box.open)
    if when != "before":
        opening.start()
        while not (job / "home").is_dir():
            opening.join(0.001)
    if when == "after":
        opening.join()
    box.close()
    if when == "before":
        opening.start()
    opening.join()

    assert {*psutil.Process().children()} == before


# --- jobs use one checkout after another, and none finds what another left ------------


SHOWS = (
    "find . -name .git -prune -o -printf '%y %m %p\\n' | sort;"
    " cat $(git ls-files); git config --list --local | sort; ls .git/hooks;"
    " git status --short --ignored; git stash list"
)
"""Everything that a job can find in its checkout."""
FILES = {
    ".gitignore": "*.log\n",
    "same.txt": "as it was\n",
    "gone.txt": "here\n",
    "tool.sh": "true\n",
    "folder/one.txt": "1\n",
    "other/two.txt": "2\n",
    "odd/three.txt": "3\n",
}
LEFTOVERS = {
    "new files": "touch new.txt ignored.log && mkdir -p a/b && touch a/b/c.log",
    "empty folders": "mkdir -p folder/empty/er",
    "a change": "echo more >> same.txt",
    "a change that keeps size and time": (
        "cp -p same.txt $HOME/t && echo AS IT WAS > same.txt"
        " && touch -r $HOME/t same.txt"
    ),
    "a removed file": "rm gone.txt",
    "a mode": "chmod 755 tool.sh; chmod 600 gone.txt",
    "a folder's mode": "chmod 700 odd",
    "a file where a folder was": "rm -r folder && touch folder",
    "a folder where a file was": "rm gone.txt && mkdir gone.txt && touch gone.txt/x",
    "a link where a folder was": "rm -r other && ln -s / other",
    "attributes": "echo '* text eol=crlf' > .gitattributes; rm same.txt",
    "attributes in .git": "echo '* text eol=crlf' > .git/info/attributes; rm same.txt",
    "what git is not to see": (
        "git update-index --assume-unchanged same.txt; echo changed > same.txt;"
        "git update-index --skip-worktree tool.sh; echo changed > tool.sh"
    ),
    "what git is to leave out": (
        "mkdir -p .git/info; echo new.txt > .git/info/exclude; touch new.txt"
    ),
    "configuration": (
        "git config filter.x.smudge 'sed s/was/is/'; git config core.hooksPath /tmp"
    ),
    "a hook": (
        "mkdir -p .git/hooks; echo 'touch hooked' > .git/hooks/post-checkout;"
        "chmod +x .git/hooks/post-checkout"
    ),
    "a commit and a stash": (
        "git config user.email a@example.org; git config user.name a;"
        "echo x > same.txt; git add -A; git commit -qm x; echo y > same.txt; git stash"
    ),
    "a repository": "git init -q nested; touch nested/x",
    "no git": "rm -r .git",
    "a git that is a file": "rm -r .git && echo gitdir: /nowhere > .git",
    "a git that is a link": "mv .git $HOME/git && ln -s $HOME/git .git",
}


async def two_commits(here: Town) -> tuple[str, str, Checkout]:
    """Return two commits of `FILES` of which the second lacks, adds and changes one."""
    checkout = await here.clone()
    for name, text in FILES.items():
        file = checkout.folder / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    await checkout.git("add", "--all")
    first = await checkout.commit("number.txt", "1")
    await checkout.git("rm", "--quiet", "folder/one.txt")
    (checkout.folder / "later.txt").write_text("later\n")
    await checkout.git("add", "--all")
    return first, await checkout.commit("number.txt", "2"), checkout


async def shown(here: Town, checkout: Checkout, commit: str, again: str = "") -> str:
    """Push a commit, or another one of its tree; return what its job prints."""
    if again:
        made = ("commit-tree", f"{commit}^{{tree}}", "-p", f"{commit}^", "-m", again)
        commit = await checkout.git(*made)
    branch = f"refs/heads/brat/queue/main/{commit}"
    await checkout.git("push", "--quiet", "origin", f"{commit}:{branch}")
    check: Json = await judged(here, commit)
    assert check["conclusion"] == "success", check["output"]
    return str(check["output"]["text"])


@pytest.mark.timeout(600)
@pytest.mark.layer("landing")
async def test_a_job_finds_the_commits_tree_whatever_the_last_one_left(
    here: Town,
) -> None:
    first, second, checkout = await two_commits(here)
    here.judge(SHOWS)
    fresh = await shown(here, checkout, second)
    kept = here.forge.folder / "ci-kept"
    for number, (name, left) in enumerate(LEFTOVERS.items()):
        for folder in kept.glob("*/*"):
            folder.rename(here.forge.folder / f"away-{number}")
        here.judge(left)
        await shown(here, checkout, first, again=name)
        here.judge(SHOWS)

        found = await shown(here, checkout, second, again=name)

        assert len([*kept.glob("*/*")]) == 1, name
        assert found == fresh, name


@pytest.mark.layer("landing")
def test_a_job_that_an_interrupted_forge_runs_again_is_kept_once(
    tmp_path: Path,
) -> None:
    kept, job = tmp_path / "kept", tmp_path / "ci/52"
    for commit in ("one", "two"):
        take_kept(tmp_path / "none", job)
        (job / WORK).mkdir()
        (job / "index").write_text(commit)
        keep_tree(kept, job, 4)

    assert [each.read_text() for each in kept.glob("*/index")] == ["one"]
    assert not job.exists()


@pytest.mark.layer("landing")
async def test_changed_attributes_count_for_files_that_did_not_change(
    here: Town,
) -> None:
    first, _, checkout = await two_commits(here)
    second = await checkout.commit(".gitattributes", "*.txt text eol=crlf\n")
    here.judge("cat same.txt")

    texts = [await shown(here, checkout, one) for one in (first, second)]

    assert texts == ["as it was\n", "as it was\r\n"]


@pytest.mark.layer("landing")
async def test_no_checkout_is_used_again_in_which_a_program_was_left(
    here: Town, tmp_path: Path
) -> None:
    first, second, checkout = await two_commits(here)
    pid = tmp_path / "pid"
    look = "stat -c '%i %z' same.txt"  # a file system may give an inode again
    start = f"setsid sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600' &"
    here.judge(f"{start} until test -e {pid}; do :; done; {look}", box="off")
    try:
        one = await shown(here, checkout, first)
        os.kill(int(pid.read_text()), 0)
        here.judge(look, box="off")
        two = await shown(here, checkout, second)
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)

    assert one != two
