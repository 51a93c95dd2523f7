"""What new users type in their first five minutes, and what they see.

`make first-five-minutes` prints the sessions.
"""

import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Final

from msgspec import Struct

from tests.world.terminal import Said, Terminal

PULL: Final = "work landed; bring it into your checkout with: "
ADVICE: Final = re.compile("`(.*?)`")
CONFIG: Final = """\
[engine.default]
type = "shell"
args = ["sh", "-c", "echo hello > hello.txt"]

[ci]
command = "test -f hello.txt"
"""
START: Final = "brat mayor start --headless --task 'Say hello'"
WHO: Final = "-c user.name=Lee -c user.email=lee@example.org"


class Step(Struct, frozen=True):
    line: str
    said: Said


class Session:
    """One person at one terminal; every line is kept."""

    def __init__(self, folder: Path, name: str) -> None:
        """Stand in a new folder `name`, with a home that holds nothing."""
        self.terminal = Terminal(folder / name, folder / "home")
        self.terminal.cwd.mkdir(parents=True)
        self.terminal.programs.mkdir(parents=True, exist_ok=True)
        self.steps: list[Step] = []

    def type(self, line: str) -> Said:
        said = self.terminal.type(f"sh -c {shlex.quote(line)}")
        self.steps.append(Step(line, said))
        return said

    def write(self, name: str, text: str) -> None:
        self.terminal.write({name: text})
        self.steps.append(Step(f"$EDITOR {name}", Said(0, text, "")))

    def pull(self, said: Said) -> None:
        self.type(said.after(PULL)[0])


def from_nothing(folder: Path) -> Session:
    """Begin in an empty folder: no repository, no name, no engine, no CI."""
    here = Session(folder, "hello")
    here.type("brat init")
    here.type("git init --quiet --initial-branch=main")
    here.type("brat init")
    here.type(f"git {WHO} commit --quiet --allow-empty -m Begin")
    here.type("brat init")
    here.type(START)
    here.write(".brat/config.toml", CONFIG)
    here.type("brat doctor")
    here.pull(here.type(START))
    here.type("cat hello.txt")
    here.type("brat status")
    return here


def from_a_clone(folder: Path) -> Session:
    """Begin in a clone: branch `trunk`, a submodule, a path that wants care."""
    lib, origin = Session(folder, "lib"), Session(folder, "origin")
    lib.write("greeting.txt", "hello\n")
    for each in (lib, origin):
        each.type("git init --quiet --initial-branch=trunk")
    lib.type(f"git add --all && git {WHO} commit --quiet -m Greet")
    origin.write("Makefile", "test:\n\tcmp vendor/lib/greeting.txt hello.txt\n")
    origin.write(".brat/config.toml", CONFIG.partition("[ci]")[0])
    origin.type(
        "git -c protocol.file.allow=always submodule --quiet add ../lib vendor/lib"
    )
    origin.type(f"git add --all && git {WHO} commit --quiet -m Begin")
    here = Session(folder, "my [bold] [/x] prójects")
    here.type("git -c protocol.file.allow=always clone -q --recursive ../../origin .")
    here.type("brat init")
    here.pull(here.type(START))
    here.type("cat hello.txt && git status --short --branch")
    return here


class Beginning(Struct, frozen=True):
    """A project of one kind, as somebody has it on their machine."""

    files: dict[str, str]
    agent: str
    """What the agent types after `echo hello > hello.txt`."""
    ci: str
    shown: str
    """What ends with 0 when the work is in the checkout."""
    before: str = ""
    """What is typed before the first commit."""
    begun: str = ""
    """What is typed after it."""
    clone: str = ""
    """What makes the folder `.` in which the person works, if that is another."""


POINTER: Final = (
    f"version https://git-lfs.github.com/spec/v1\noid sha256:{'0' * 64}\nsize 3\n"
)
SUBJECT: Final = "grep -Eq '^(docs|feat|fix): '"
SUBMODULE: Final = '[submodule "lib"]\n\tpath = lib\n\turl = ../nowhere.git\n'
BEGINNINGS: Final = {
    "a submodule that nobody can fetch": Beginning(
        files={"a.txt": "a\n", ".gitmodules": SUBMODULE},
        before=(
            f"git init -q lib && git -C lib {WHO} commit -q --allow-empty -m L &&"
            "git -c advice.addEmbeddedRepo=false add lib"
        ),
        clone="git clone --quiet ../project .",
        agent="git submodule update --init; git rm -q lib; echo b >> a.txt",
        ci="test -d lib && grep b a.txt",
        shown="git ls-files --stage lib | grep ^160000 && grep lib .gitmodules",
    ),
    "Git LFS that is not installed": Beginning(
        files={
            ".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n",
            "art/a.bin": POINTER,
        },
        agent="git mv art/a.bin art/b.bin",
        ci="grep -q git-lfs art/b.bin",
        shown='test -z "$(git status --short)" && ! test -e art/a.bin',
    ),
    "DCO and a hook for subjects": Beginning(
        files={"hooks/commit-msg": f'#!/bin/sh\nhead -1 "$1" | {SUBJECT}\n'},
        before="chmod +x hooks/commit-msg && git config core.hooksPath hooks",
        agent="git add hello.txt; git commit -qsm 'docs: say hello'",
        ci=(
            f"git log --format=%s -1 | {SUBJECT} && git log --format=%B -1 |"
            'grep -q "^Signed-off-by: $(git log --format=%an -1) <"'
        ),
        shown="git log --format=%s -1 | grep '^docs: say hello$'",
    ),
    "a shallow clone": Beginning(
        files={"a.txt": "a\n"},
        begun=f"git {WHO} commit --quiet --allow-empty -m 'docs: more'",
        clone='git clone --quiet --depth 1 "file://$PWD/../project" .',
        agent="echo b >> a.txt; git commit -qam 'Write b'",
        ci="grep b a.txt",
        shown="git log --format=%s | grep 'docs: more' && grep b a.txt",
    ),
    "a worktree, and a person's own way with git": Beginning(
        files={"hooks/pre-commit": "#!/bin/sh\nexit 1\n", "a.txt": "a\n"},
        begun=(
            "chmod +x hooks/pre-commit; git config core.hooksPath hooks;"
            "git config commit.gpgSign true; git config gpg.program false;"
            "git config push.default nothing; git config submodule.recurse true;"
            "git config diff.external false; git config core.fsmonitor false"
        ),
        clone="git -C ../project worktree add --quiet -b work/hello ../clone",
        agent="echo b >> a.txt",
        ci="grep b a.txt",
        shown='test "$(git branch --show-current)" = work/hello && grep b a.txt',
    ),
    "line ends of Windows, and all that an agent leaves": Beginning(
        files={
            ".gitattributes": "* text=auto\n*.bat eol=crlf\n",
            ".gitignore": "*.log\n",
            "build.bat": "echo a\r\n",
            "dos.txt": "a\n",
        },
        begun=(
            "printf 'a\\r\\n' > dos.txt;"
            "DOS=$(git hash-object -w --no-filters dos.txt);"
            "git update-index --cacheinfo 100644,$DOS,dos.txt;"
            f"git {WHO} commit --quiet -m 'docs: dos'"
        ),
        agent=(
            "printf 'echo b\\r\\n' >> build.bat; echo noise > out.log\n"
            "mkdir -p .venv node_modules/a __pycache__ café\n"
            "touch .venv/pyvenv.cfg node_modules/a/b.js __pycache__/a.pyc café/b\n"
            "git clone -q . cloned"
        ),
        ci="grep b build.bat && test -f café/b",
        shown=(
            "git ls-files --eol build.bat | grep w/crlf &&"
            'test "$(git log --format=%H -1 -- dos.txt)" != "$(git rev-parse HEAD)" &&'
            "! git ls-files | grep -E 'cloned|venv|node_modules|pycache|log$'"
        ),
    ),
    "a program and a version of the project's own": Beginning(
        files={"version.sh": "git describe --tags --match 'v*'\n"},
        before=(
            'cd "$HOME/bin" && echo "#!/bin/sh" > pytest && chmod +x pytest &&'
            'echo "test -f hello.txt" >> pytest'
        ),
        begun=f"git {WHO} tag -a v1.2 -m one",
        clone="git clone --quiet ../project .",
        agent="sh version.sh > version.txt; git diff --quiet origin/main",
        ci="pytest && sh version.sh | grep ^v1.2 && git merge-base HEAD origin/main",
        shown="grep ^v1.2 version.txt",
    ),
}


def from_a_project(folder: Path, name: str) -> Session:
    """Begin in a project of some kind, with an agent that leaves what agents leave."""
    one = BEGINNINGS[name]
    here = Session(folder, "project")
    here.type("git init --quiet --initial-branch=main")
    engine = CONFIG.partition("args")[0] + 'args = ["sh", "agent.sh"]\n\n'
    config = f"{engine}[ci]\ncommand = '''{one.ci}'''\n"
    agent = f"echo hello > hello.txt\n{one.agent}\n"
    for path, text in (
        *one.files.items(),
        ("agent.sh", agent),
        (".brat/config.toml", config),
    ):
        here.write(path, text)
    commit = f"git add --all && git {WHO} commit --quiet -m 'docs: begin'"
    for line in filter(None, (one.before, commit, one.begun)):
        here.type(line)
    if one.clone:
        here = Session(folder, "clone")
        here.type(one.clone)
    here.type("brat init")
    said = here.type(START)
    if said.status != 0:
        here.type(ADVICE.findall(said.err)[0])
        said = here.type(START)
    here.pull(said)
    here.type(one.shown)
    return here


SESSIONS: Final[dict[str, Callable[[Path], Session]]] = {
    "an empty folder": from_nothing,
    "a clone": from_a_clone,
    **{name: partial(from_a_project, name=name) for name in BEGINNINGS},
}


def transcript(session: Session) -> Iterator[str]:
    for step in session.steps:
        yield f"$ {step.line}"
        yield from f"{step.said.err}{step.said.out}".splitlines()


def main() -> None:
    for name, play in SESSIONS.items():
        with tempfile.TemporaryDirectory() as folder:
            lines = [f"--- {name} ---", *transcript(play(Path(folder)))]
            sys.stdout.write("\n".join(lines).replace(folder, "~") + "\n\n")


if __name__ == "__main__":
    main()
