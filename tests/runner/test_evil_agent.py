"""An agent that looks everywhere for what it must not have, in a job like GitHub's."""

import base64
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

import runner
from convoy.model.records import EngineSpec
from runner.session.proxy_client import cannot_close
from tests.runner.job import Forge, Left, git
from tests.runner.proxy.test_session import program
from tests.runner.proxy.world import Server, server
from tests.world.patience import patient

pytestmark = pytest.mark.skipif(
    bool(why := cannot_close()), reason=f"this machine cannot close a network: {why}"
)

STEM = "what-no-agent-may-find"
SECRETS = {
    name: f"{STEM}-{name.lower()}-0123456789"
    for name in (
        *("BRAT_TOKEN", "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN"),
        *("ACTIONS_ID_TOKEN_REQUEST_TOKEN", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"),
        "AWS_SECRET_ACCESS_KEY",
    )
}
COMMANDS = (
    *("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STATE"),
    "GITHUB_STEP_SUMMARY",
)
HELPER = '[credential]\n\thelper = "!f() { echo username=x; echo password=%s; }; f"\n'
IN_HOME = {
    ".netrc": "machine github.com login x password %s\n",
    ".git-credentials": "https://x:%s@github.com\n",
    ".gitconfig": HELPER,
    ".config/gh/hosts.yml": "github.com:\n  oauth_token: %s\n",
    ".ssh/id_ed25519": "%s\n",
    ".docker/config.json": '{"auths": {"ghcr.io": {"auth": "%s"}}}',
    ".npmrc": "//registry.npmjs.org/:_authToken=%s\n",
    ".aws/credentials": "aws_secret_access_key = %s\n",
    ".codex/auth.json": '{"OPENAI_API_KEY": "%s"}',
}
"""What programs leave in the home of who runs the job."""
LAZY = str(Path(runner.__path__[0], "proxy/egress_server.py"))
"""Code that the proxy loads only when it is first called."""

# It tells by name only what it finds, and in a form that no redaction hides.
EVIL = """\
#!{python} -I
import json, os, socket, subprocess, urllib.error, urllib.request
from pathlib import Path

STEM = bytes.fromhex({stem!r})
PAIR = bytes.fromhex({pair!r})
found, seen = set(), set()

def look(where, text):
    if STEM in text or PAIR in text:
        found.add(str(where))

def read(path):
    try:
        return Path(path).read_bytes()
    except OSError:
        return b""

look("own environment", repr(os.environ).encode())
for entry in Path("/proc").iterdir():
    if entry.name.isdigit() and int(entry.name) != os.getpid():
        for name in ("environ", "cmdline"):
            look(f"{{name}} of a process", read(entry / name))
        try:
            for link in (entry / "fd").iterdir():
                seen.add(f"descriptors of {{read(entry / 'comm').decode().strip()}}")
        except OSError:
            pass
        try:
            memory = open(entry / "mem" if {deep} else "", "rb", 0)
            for line in read(entry / "maps").decode().splitlines():
                first, last = (int(n, 16) for n in line.split()[0].split("-"))
                memory.seek(first)
                look("memory of a process", memory.read(last - first))
        except (OSError, ValueError, OverflowError):
            pass
for fd in os.listdir("/proc/self/fd"):
    if int(fd) > 2 and os.path.exists("/proc/self/fd/" + fd):
        found.add("descriptor " + fd)
for question in (["git", "config", "--list", "--show-origin"],
                 ["git", "credential", "fill"]):
    done = subprocess.run(question, capture_output=True, timeout=300,
                          input=b"protocol=https\\nhost=github.com\\n\\n")
    look(" ".join(question), done.stdout + done.stderr)
os.environ["HOME"] = {home!r}
done = subprocess.run(["git", "credential", "fill"], capture_output=True, timeout=300,
                      input=b"protocol=https\\nhost=github.com\\n\\n")
look("git's helper in the job's home", done.stdout + done.stderr)
for root in {roots!r}:
    for path in Path(root).rglob("*"):
        if path.is_file() and not path.is_symlink():
            look(path, read(path))

url = os.environ["ANTHROPIC_BASE_URL"]
key = os.environ["ANTHROPIC_API_KEY"]
for path in ("/", "/v1/files", "/v1/organizations/me", "/v1/models", "/../keys",
             "/v1/messages/batches", "//127.0.0.1/", "/debug", "/metrics", "/v1"):
    for header in ({{"x-api-key": key}}, {{"x-api-key": "guess"}}, {{}}):
        try:
            asked = urllib.request.Request(url + path, headers=header)
            with urllib.request.urlopen(asked, timeout=300) as answer:
                look(path, repr(answer.headers.items()).encode() + answer.read())
        except urllib.error.HTTPError as error:
            look(path, repr(error.headers.items()).encode() + error.read())
        except OSError:
            pass
for name, port in {doors!r}.items():
    for ask in (f"http://127.0.0.1:{{port}}/", f"http://localhost:{{port}}/latest/"):
        for proxy in ({{}}, {{"http": os.environ.get("HTTP_PROXY", "")}}):
            opener = urllib.request.build_opener(urllib.request.ProxyHandler(proxy))
            os.environ["no_proxy"] = os.environ["NO_PROXY"] = ""
            try:
                with opener.open(ask, timeout=300) as answer:
                    look(name, answer.read())
                    seen.add(f"reached {{name}}")
            except OSError:
                pass
for path in {writes!r}:
    try:
        with open(path, "ab") as file:
            file.write(b"import os\\n")
            seen.add("wrote " + path)
    except OSError:
        pass
Path("found.json").write_text(json.dumps([sorted(found), sorted(seen)]))
print(json.dumps({{"type": "result", "subtype": "success", "result": "BRAT: done"}}))
"""
WORKER = """\
import subprocess, sys
step = ["sh", "-e", "-c", 'exec "$0" -I -m runner', sys.executable]
sys.exit(subprocess.run(step, pass_fds=[int(sys.argv[1])]).returncode)
"""
"""Stands for GitHub's runner: it has all of the job's secrets, and stays."""


@pytest.fixture
def doors() -> Iterator[dict[str, Server]]:
    """Serve what a job's machine serves on loopback: each gives a secret away."""
    body = SECRETS["GITHUB_TOKEN"].encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body)
    with server(answer) as feed, server(answer) as metadata, server(answer) as tokens:
        yield {"live feed": feed, "metadata": metadata, "id tokens": tokens}


@contextmanager
def feed(url: str) -> Iterator[int]:
    """Give the descriptor that says where the live feed is, with its token."""
    read, write = os.pipe()
    try:
        token = SECRETS["ACTIONS_RUNTIME_TOKEN"]
        os.write(write, json.dumps({"url": url, "token": token}).encode())
        os.close(write)
        yield read
    finally:
        os.close(read)


UNBOXED = (
    *("unshare", "-Ur", "sh", "-c"),
    *('echo 0 > /proc/sys/user/max_pid_namespaces; exec "$@"', "sh"),
)
"""Starts a program on what is then a machine that gives no box."""


def job(forge: Forge, doors: dict[str, Server], *hosts: str) -> Left:
    """Run the evil agent's session as the action does, below a worker.

    With `hosts` its network is open, and its box is turned off.
    """
    home, commands = forge.root / "home", forge.root / "temp/_runner_file_commands"
    for name, text in IN_HOME.items():
        file = home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text % SECRETS["GITHUB_TOKEN"])
    commands.mkdir(parents=True)
    files = {name: str(commands / name.lower()) for name in COMMANDS}
    for each in files.values():
        Path(each).write_text(SECRETS["GITHUB_TOKEN"] + "\n")
    pair = base64.b64encode(f"x-access-token:{SECRETS['BRAT_TOKEN']}".encode())
    evil = EVIL.format(
        python=sys.executable,
        stem=STEM.encode().hex(),
        pair=pair.hex(),
        home=str(home),
        roots=[str(home), str(forge.root / "temp"), str(forge.root / "work")],
        doors={name: each.port for name, each in doors.items()},
        deep=not hosts,
        writes=[] if hosts else [LAZY, *files.values(), str(forge.root / "result/x")],
    )
    spec = EngineSpec(type="claude-code", timeout_s=600)
    started = forge.started(engine=spec, egress=hosts or None)
    if hosts:
        started = msgspec.structs.replace(started, box="off")
    with feed(f"http://127.0.0.1:{doors['live feed'].port}/feed") as fd:
        env = forge.environment(
            forge.hand_off(started),
            **SECRETS,
            **files,
            HOME=str(home),
            PATH=program(forge, evil),
            BRAT_FEED_FD=str(fd),
            ACTIONS_ID_TOKEN_REQUEST_URL=f"http://127.0.0.1:{doors['id tokens'].port}",
        )
        done = subprocess.run(
            [*(UNBOXED if hosts else ()), sys.executable, "-I", "-c", WORKER, str(fd)],
            cwd=forge.root,
            env=env,
            pass_fds=(fd,),
            capture_output=True,
            text=True,
            timeout=patient(65),
            check=False,
        )
    return Left(done.returncode, done.stdout, done.stderr, forge.root / "result")


def told(forge: Forge, left: Left) -> tuple[list[str], list[str]]:
    """Return where it found secrets, and what else it saw and did."""
    assert left.status == 0, (left.out[-2000:], left.err)
    shown = git("show", "work:found.json", cwd=forge.unpacked(left))
    found, seen = json.loads(shown)
    return found, seen


@pytest.mark.timeout(120)
def test_an_evil_agent_finds_nothing_and_changes_nothing(
    forge: Forge, doors: dict[str, Server]
) -> None:
    before = Path(LAZY).read_bytes()
    left = job(forge, doors)
    found, seen = told(forge, left)

    assert found == []
    assert not [each for each in seen if each.startswith("reached")]
    assert f"wrote {LAZY}" not in seen
    assert Path(LAZY).read_bytes() == before
    for file in (forge.root / "temp/_runner_file_commands").iterdir():
        assert "import os" not in file.read_text()
    assert "x" not in left.names
    assert doors["metadata"].heads == []


@pytest.mark.needs("unshare")
@pytest.mark.timeout(120)
def test_without_walls_it_would_find_a_lot(
    forge: Forge, doors: dict[str, Server]
) -> None:
    left = job(forge, doors, "*")
    found, seen = told(forge, left)

    names = {Path(each).name for each in found}
    assert names >= {"environ of a process", ".netrc", "id_ed25519", "github_env"}
    assert names >= {"git's helper in the job's home", "metadata", "live feed"}
    assert "reached id tokens" in seen
    assert "own environment" not in found
