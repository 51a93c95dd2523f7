"""What CI finds of the machine of the person who runs it, and what it leaves there."""

import os
import threading
import venv
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from brat.forge.resources.forge_records import Ci
from brat.forge.service.ci_checkout import CiBox
from brat.forge.service.local_ci import FAKED
from brat.forge.service.programs import HIDDEN, SECRET, SHOWN
from convoy.text.project_tests import headline
from runner.box import surroundings
from tests.forge.test_ci import judged, push
from tests.world.forge import Town, until

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

    _, commit = await push(here)
    check = await judged(here, commit)

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
    commit = await checkout.commit("src/my_app.py", "which = 'the candidate'\n")
    to = "HEAD:refs/heads/brat/queue/main/x"
    await checkout.git("push", "--quiet", "origin", to)
    check = await judged(here, commit)

    assert check["conclusion"] == "success", check["output"]
    assert "the candidate" in check["output"]["text"]


async def test_a_job_that_took_too_long_leaves_no_process(here: Town) -> None:
    sleep = ["sleep", f"600.{uuid4().int}"]
    here.judge(f"{' '.join(sleep)} & wait", timeout_s=3)
    _, commit = await push(here)

    assert (await judged(here, commit))["conclusion"] == "timed_out"

    def lines() -> list[list[str]]:
        return [each.info["cmdline"] for each in psutil.process_iter(["cmdline"])]

    await until(lambda: sleep not in lines())


async def test_a_host_that_ci_may_not_reach_is_what_it_says_last(here: Town) -> None:
    here.judge("python3 -c 'import urllib.request as r; r.urlopen(\"http://a.b\")'")
    _, commit = await push(here)

    output = (await judged(here, commit))["output"]

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
