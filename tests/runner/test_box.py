"""What an agent sees from its box: real namespaces, and who would look out of them."""

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from runner.box.agent_box import agent_user_number, cannot_box
from tests.attacks.environments import NOTHING
from tests.attacks.machine import fresh
from tests.runner.job import TOKEN, Forge, git
from tests.runner.test_endings import is_left, working
from tests.world.alone import ALONE

pytestmark = pytest.mark.skipif(
    bool(why := cannot_box()), reason=f"this machine has no boxes: {why}"
)

LOOKS = """
import json, os, sys
from pathlib import Path
found = {"processes": [], "seen": {}}
for each in Path("/proc").glob("[0-9]*"):
    words = (each / "cmdline").read_bytes().split(b"\\0")
    found["processes"].append(words[-2].decode())
for place in map(Path, sys.argv[1:]):
    try:
        seen = sorted(os.listdir(place)) if place.is_dir() else place.read_text()
    except OSError as error:
        seen = type(error).__name__
    found["seen"][place.name] = seen
Path("found.json").write_text(json.dumps(found))
"""


def test_an_agent_sees_its_own_processes_and_files_alone(forge: Forge) -> None:
    home = forge.root / "person"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_ed25519").write_text(TOKEN)
    (home / ".netrc").write_text(TOKEN)
    (home / "open.txt").write_text("hello")
    later = forge.root / "set_env"
    later.write_text("")
    hidden = forge.root / "brat"
    (hidden / "bot").mkdir(parents=True)
    places = [
        *(home / ".ssh", home / ".netrc", home / "open.txt", later, hidden),
        *(forge.root / "temp", forge.root / "work", forge.root / "result"),
    ]
    argv = (sys.executable, "-I", "-c", LOOKS, *map(str, places))

    left = forge.run(
        forge.started(*argv),
        HOME=str(home),
        GITHUB_ENV=str(later),
        BRAT_HIDDEN=str(hidden),
    )

    seen = json.loads(git("show", "work:found.json", cwd=forge.unpacked(left)))
    scratch, checkout = seen["seen"].pop("temp"), seen["seen"].pop("work")
    assert seen == {
        "processes": [str(places[-1])] * 2,  # the first one of the box, and itself
        "seen": dict.fromkeys(
            (".ssh", ".netrc", "open.txt", "set_env", "brat", "result"),
            "FileNotFoundError",
        ),
    }
    assert (len(scratch), len(checkout)) == (1, 1)
    assert left.result["box"] == ""
    another = "uid" if os.getuid() == 0 else "namespaces"
    assert left.result["walls"] == {
        "files": "namespaces",
        "processes": "namespaces",
        "network": "",
        "user": another,
        "syscalls": "seccomp",
    }


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_boxes_of_one_process_have_users_of_their_own() -> None:
    with agent_user_number() as one, agent_user_number() as two:
        assert one != two
        assert None not in (one, two)
    with agent_user_number() as again:
        assert again == one


def test_a_program_that_ends_at_once_had_a_box_whatever_the_persons_umask(
    forge: Forge,
) -> None:
    assert [cannot_box() for _ in range(10)] == [""] * 10
    before = os.umask(0o077)
    try:
        left = forge.sh("echo once >> here.txt; ls -d /proc/self /etc/passwd")
    finally:
        os.umask(before)

    assert left.result["files"] == ["here.txt"]
    assert git("show", "work:here.txt", cwd=forge.unpacked(left)) == "once"


def test_what_the_agent_sees_of_the_witnesss_folder_is_its_home(forge: Forge) -> None:
    left = forge.sh('ls "$(dirname "$HOME")"; echo x > "$(dirname "$HOME")/store.git"')

    assert left.said.splitlines()[0:3] == ["home", "prompt.md", "tmp"]
    assert "cannot create" in left.said


def test_the_end_of_the_boxs_first_process_is_the_end_of_all(forge: Forge) -> None:
    job = working(
        forge,
        "import os, signal, time\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "for _ in range(3):\n"
        "    if os.fork() == 0: os.setsid()\n"
        "print('daemon 1', flush=True)\n"
        "time.sleep(600)",
    )
    inside = [
        each
        for each in psutil.Process(job.pid).children(recursive=True)
        if "runner.box.namespaces" in " ".join(each.cmdline())
    ]

    inside[0].kill()  # the kernel ends its child, which is the first one inside
    assert forge.left_by(job).result["outcome"] == "crashed"
    assert not is_left(forge)


READS_ALL = "-all,+dac_read_search"
"""Python may lie in root's home; in the box this is gone."""
OTHER = (
    *("setpriv", "--reuid=54321", "--regid=54321", "--clear-groups"),
    *(f"--inh-caps={READS_ALL}", f"--ambient-caps={READS_ALL}"),
    f"--bounding-set={READS_ALL}",
)
"""Goes before a command line, as root: a user without a name and without rights."""
SHOWS = """
id -u; id -g
grep -E 'CapEff|NoNewPrivs' /proc/self/status
tr '\\0' ' ' < /proc/1/cmdline; echo
grep -la BRAT_LOG /proc/*/environ
sed 1,2d /proc/net/dev
ls "$1"
umount /proc || echo stays
echo hi > greeting.txt
"""


@pytest.mark.needs("unshare", "setpriv")
@pytest.mark.parametrize(("become", "user"), [(ALONE, 1001), (OTHER, 54321)])
def test_a_user_without_rights_gets_a_box_and_a_closed_network(
    open_forge: Forge, become: tuple[str, ...], user: int
) -> None:
    forge = open_forge
    if become is OTHER and os.getuid() != 0:
        pytest.skip("only root becomes another user")
    started = forge.started(
        "sh", "-c", SHOWS, "sh", str(forge.root / "result"), egress=()
    )
    env = forge.environment(forge.hand_off(started))
    if become is OTHER:
        for each in (forge.root, *forge.root.rglob("*")):
            os.chown(each, user, user, follow_symlinks=False)

    left = forge.run_on(become, env)

    assert (left.status, left.result["box"], left.result["network"]) == (0, "", "")
    said = [line.strip() for line in left.said.splitlines()]
    assert said[:2] == [str(user)] * 2
    assert {"CapEff:\t0000000000000000", "NoNewPrivs:\t1", "stays"} <= set(said)
    assert any(
        "runner.box.namespaces" in line for line in said
    )  # the first one that it sees
    assert not any(line.startswith("/proc/") for line in said)
    assert [line.split()[0] for line in said if "0       0" in line] == ["lo:"]
    assert not left.names & set(said)  # the result folder was empty for it
    assert left.result["files"] == ["greeting.txt"]


@pytest.fixture
def open_forge() -> Iterator[Forge]:
    with fresh() as root:
        yield Forge(root)


@pytest.mark.needs("unshare")
@pytest.mark.parametrize("box", ["on", "off"])
def test_where_the_machine_gives_no_box_no_agent_starts_unless_it_is_off(
    forge: Forge, box: str
) -> None:
    summary = forge.root / "summary.md"
    started = forge.started("sh", "-c", "exit 5", box=box)
    env = forge.environment(forge.hand_off(started), GITHUB_STEP_SUMMARY=str(summary))

    left = forge.run_on(NOTHING, env)

    off = "the configuration turns it off"
    refused = (
        f"no namespaces: {os.strerror(28)}; this kernel has no Landlock, or "
        "Landlock is off"
    )
    assert left.result["box"] == (refused if box == "on" else off)
    assert left.result["exit_code"] == (None if box == "on" else 5)
    assert ('set [runner] box = "off"' in left.result["why"]) == (box == "on")
    assert not any(left.result["walls"].values())
    assert left.told[-1] == {"type": "unboxed", "why": left.result["box"]}
    assert "The agent had no sandbox" in Path(summary).read_text()
