"""What lies in a work tree and is no part of the work: left out by name, nothing else.

The agent is a shell script; the work is kept as a session keeps it, in this process.
"""

import shutil
import subprocess
from pathlib import Path

import pytest

from bot.repository.strangers_commits import CommitRange
from convoy.gate import refusals
from convoy.model.records import Gate, Limits
from convoy.text import Redaction
from runner.inputs import job_inputs
from runner.workspace.attempt_commits import (
    AttemptCommits,
    CommitMessage,
    Work,
    without_leaks,
)
from runner.workspace.workspace import Workspace, prepare_workspace
from tests.runner.job import CLEAN, Forge, git
from tests.world.patience import patient

CRLF, IDENT = b"x\r\n", b"$Id: an old one $\n"
FILES = {
    ".gitmodules": b'[submodule "lib"]\n\tpath = lib\n\turl = ../lib.git\n',
    "dos.txt": CRLF,
    "sub/dos.txt": CRLF,
    "who.c": IDENT,
    ".gitattributes": b"*.txt text eol=lf\n*.c ident\n*.bat text eol=crlf\n",
    "run.bat": b"echo\n",
    "win.cfg": b"a\r\nb\r\n",
    "unix.cfg": b"a\nb\n",
    "pom.xml": b"<project/>\n",
    ".gitignore": b"data/\n*.local\ndist\nbuild\n.cache\n*.log\n*.o\n",
    "bin/old.so": b"\x7fELF",
    "art/.gitattributes": b"*.bin filter=lfs diff=lfs merge=lfs -text\n",
    "art/a.bin": b"version https://git-lfs.github.com/spec/v1\noid x\n",
    "art/old.bin": b"raw since long ago\n",
    "vendored/node_modules/a/a.js": b"1\n",
}
WORK = "echo 1 > new.py"
COMMIT = "git add -A; git commit -qm Own"
NESTED = "git init -q demo; echo 1 > demo/x"
VENV = "python3 -m venv --without-pip"
REPOSITORY = "Left out: a nested repository: {}."
UNSAFE = "Left out: some systems forbid its name: {}."
MADE = "Left out: tools regenerate it: {}."
LIB = "Unchanged: submodules are not checked out here: lib."
CRYPT = (
    "Left out: it would land unencrypted, but .gitattributes asks for the filter "
    "git-crypt: {}."
)
ENDS = "Kept with its old line endings: {}."
LFS = (
    "Left out: .gitattributes assigns it to Git LFS, to which agents cannot write: {}."
)

STASHED = "Left out: the agent committed it on another branch or stashed it: {}."
LINKS = "Left out: agents may neither add nor change symbolic links: {}."
HIDDEN = "Left out: .gitignore names it: {}."
NEW = {"new.py"}
CASES: dict[str, tuple[str, set[str], *tuple[str, ...]]] = {
    "nothing at all": ("true", set()),
    "a change beside what was stashed and committed elsewhere": (
        (
            "git checkout -qb other; echo 2 > b.py; git add b.py; git commit -qm B;"
            "git checkout -q --detach HEAD~1; echo 3 > c.py; git add c.py; git stash -q"
            f"; {WORK}"
        ),
        NEW,
        "Left out: the agent committed it on another branch or stashed it: {}.".format(
            "other, refs/stash"
        ),
    ),
    "every file touched": ("find . -type f | xargs touch", set()),
    "every file written again": (
        (
            "for f in $(git ls-files); do "
            "test -f $f && cp -p $f /tmp/$$ && cat /tmp/$$ > $f; done; rm /tmp/$$"
        ),
        set(),
    ),
    "all that git finds committed": (
        f"find . -name '*.txt' | xargs touch; {COMMIT}",
        set(),
    ),
    "all that git finds committed with work": (f"touch dos.txt; {WORK}; {COMMIT}", NEW),
    "line ends edited": ("printf 'y\\r\\n' > dos.txt", {"dos.txt"}),
    "a mode alone": ("chmod +x dos.txt; touch who.c", {"dos.txt"}),
    "line ends asked for": (
        (
            "echo '*.txt text=auto' >> .gitattributes; git add --renormalize . ;"
            "git commit -qm Own"
        ),
        {".gitattributes", "dos.txt", "sub/dos.txt"},
    ),
    "line ends asked for elsewhere": (
        "echo '*.psd filter=lfs -text' >> .gitattributes; touch dos.txt who.c",
        {".gitattributes"},
    ),
    "a repository without a commit": (
        f"{WORK}; {NESTED}",
        NEW,
        REPOSITORY.format("demo"),
    ),
    "a clone, a worktree and a repository deep within": (
        (
            f"{WORK}; git clone -q . ref; git worktree add -q .claude/w/one;"
            "mkdir -p a/b; git init -q 'a/b/c d'; echo 1 > a/b/x"
        ),
        {"new.py", "a/b/x"},
        REPOSITORY.format(".claude/w/one, a/b/c d, ref"),
    ),
    "a repository made of a folder of the project": (
        "git init -q src; echo 2 > src/new.py; echo B = 2 >> src/a.py",
        {"src/a.py", "src/new.py"},
    ),
    "a repository that is committed": (
        f"{WORK}; git clone -q . ref; {COMMIT}; echo 2 > more.py",
        {"new.py", "more.py"},
        REPOSITORY.format("ref"),
    ),
    "a name that git's patterns would read otherwise": (
        f"{WORK}; git init -q '[a]* !#\n\\\\'; echo 2 > a",
        {"new.py", "a"},
        "Left out: a nested repository: [a]* !#\\u000a\\\\.",
    ),
    "names that no machine, or not every one, can write": (
        f"{WORK}; touch \"$(printf 'caf\\351')\" 'a\nb' git~1",
        NEW,
        UNSAFE.format("a\\u000ab, caf\\udce9, git~1"),
    ),
    "what Python leaves": (
        (
            f"{WORK}; {VENV} .venv; {VENV} any; mkdir -p s/__pycache__ x.egg-info;"
            "touch s/__pycache__/a.pyc x.egg-info/PKG-INFO s/a.py"
        ),
        {"new.py", "s/a.py"},
        MADE.format(".venv, any, s/__pycache__ and 1 more"),
    ),
    "what npm leaves, committed": (
        (
            f"{WORK}; mkdir -p web/node_modules/x; echo 1 > web/node_modules/x/a.js;"
            f"ln -s x web/node_modules/y; echo 1 > web/b.js; {COMMIT};"
            "mkdir .pnpm-store .playwright-mcp; touch .pnpm-store/a .playwright-mcp/a"
        ),
        {"new.py", "web/b.js"},
        MADE.format(".playwright-mcp, .pnpm-store, web/node_modules"),
    ),
    "a cache that says so, committed": (
        (
            f"{WORK}; mkdir target; echo x > target/CACHEDIR.TAG; echo 1 > target/a;"
            f"{COMMIT}"
        ),
        NEW,
        MADE.format("target"),
    ),
    "a file of the desktop, and what patch and a merge leave": (
        f"{WORK}; touch .DS_Store dos.txt.orig my.orig; mkdir m; touch m/a m/a.rej",
        {"new.py", "my.orig", "m/a"},
        MADE.format(".DS_Store, dos.txt.orig, m/a.rej"),
    ),
    "a program that was built": (
        (
            "printf '\\177ELF' | tee app bin/new.so > b.out; mkdir web;"
            f"printf '\\312\\376\\272\\276' > web/A.class; {WORK}; {COMMIT};"
            "printf 'mode: set\\n' > coverage.out; printf 'MZ\\220\\0' > a.exe"
        ),
        {"new.py", "bin/new.so"},
        MADE.format("a.exe, app, b.out and 2 more"),
    ),
    "what Maven leaves, and a folder of that name": (
        f"{WORK}; mkdir -p target/x src/target; touch target/x/a.txt src/target/b",
        {"new.py", "src/target/b"},
        MADE.format("target"),
    ),
    "a text written with other line ends": (
        "printf 'a\\nc\\n' > win.cfg; printf 'a\\r\\nc\\r\\n' > unix.cfg",
        {"win.cfg", "unix.cfg"},
        ENDS.format("unix.cfg, win.cfg"),
    ),
    "a line with other line ends, committed": (
        f"echo c >> win.cfg; {COMMIT}; printf 'c\\r\\n' >> unix.cfg",
        {"win.cfg", "unix.cfg"},
        ENDS.format("win.cfg"),
    ),
    "texts whose line ends are to be others": (
        "printf 'a\\nb\\n' > win.cfg; printf 'a\\r\\nc\\r\\n' > unix.cfg",
        {"win.cfg", "unix.cfg"},
    ),
    "more of what the project keeps": (
        (
            "cd vendored/node_modules; mkdir -p b/node_modules/c;"
            "echo 2 > a/a.js; touch b/b.js b/node_modules/c/c.js"
        ),
        {
            "vendored/node_modules/a/a.js",
            "vendored/node_modules/b/b.js",
            "vendored/node_modules/b/node_modules/c/c.js",
        },
    ),
    "a submodule deleted": (f"{WORK}; rmdir lib", NEW, LIB),
    "a submodule deleted by a commit": (f"{WORK}; rmdir lib; {COMMIT}", NEW, LIB),
    "a submodule removed as git removes it": (
        f"{WORK}; git rm -q lib",
        NEW,
        "Unchanged: submodules are not checked out here: .gitmodules, lib.",
    ),
    "work in a submodule": (f"{WORK}; echo 1 > lib/x.c", NEW, LIB),
    "a repository in a submodule": (
        f"{WORK}; git init -q lib; echo 1 > lib/x.c",
        NEW,
        LIB,
    ),
    "a submodule moved on": (f"{WORK}; git clone -q . lib; {COMMIT}", NEW, LIB),
    "files in a submodule's place, committed": (
        f"{WORK}; git rm -q --cached lib; echo 1 > lib/x.c; {COMMIT}",
        NEW,
        "Unchanged: submodules are not checked out here: lib, lib/x.c.",
    ),
    "a file in a submodule's place": (f"{WORK}; rmdir lib; echo 1 > lib", NEW, LIB),
    "names that differ in case alone": (
        "echo 1 > Readme.md; git mv dos.txt DOS.txt",
        {"Readme.md", "dos.txt", "DOS.txt"},
        "Kept, but another name differs only in case: Readme.md.",
    ),
    "names that Windows cannot write": (
        "touch a:b 'c ' nul.txt null.txt",
        {"a:b", "c ", "nul.txt", "null.txt"},
        "Kept, but Windows forbids this name: a:b, c , nul.txt.",
    ),
    "what agents write down for themselves": (
        (
            f"{WORK}; mkdir .claude .aider.tags.cache.v4; echo 1 > a.py~;"
            "touch .claude/settings.local.json .aider.chat.history.md nohup.out"
            " .aider.tags.cache.v4/cache.db"
        ),
        NEW,
        MADE.format(
            ".aider.chat.history.md, .aider.tags.cache.v4, "
            ".claude/settings.local.json and 2 more"
        ),
    ),
    "work that is stashed, and work on another branch": (
        (
            f"{WORK}; {COMMIT}; git branch own; git update-ref refs/stash own;"
            "git reset -q --hard HEAD~"
        ),
        set(),
        STASHED.format("own, refs/stash"),
    ),
    "a branch that was merged": (f"{WORK}; {COMMIT}; git branch own", NEW),
    "a link out of the repository, another beside work, and one that is turned": (
        f"{WORK}; ln -s /etc/passwd out; ln -s new.py near; ln -sf / old/link",
        NEW,
        LINKS.format("near, old/link, out"),
    ),
    "a folder that a link replaces, committed, and a file that a link becomes": (
        f"mv sub kept; ln -s kept sub; ln -sf new.py dos.txt; {WORK}; {COMMIT}",
        {"new.py", "kept/dos.txt"},
        LINKS.format("dos.txt, sub, sub/dos.txt"),
    ),
    "work that .gitignore hides, beside what builds and tests leave": (
        (
            "mkdir -p data/x dist web/build .cache; touch data/x/a.json sub/a.local"
            " dist/a web/build/b.js .cache/c sub/a.log sub/a.o"
        ),
        set(),
        HIDDEN.format("data/x/a.json, sub/a.local"),
    ),
    "new files that the agent itself lets git ignore": (
        f"{WORK}; echo own >> .gitignore; touch own",
        {"new.py", ".gitignore"},
    ),
    "a link that moved": (
        f"{WORK}; mv old moved",
        {"new.py", "old/link", "moved/link"},
    ),
    "raw content for Git LFS": (
        f"echo raw | tee art/a.bin art/b.bin art/old.bin art/c.txt; {COMMIT}",
        {"art/c.txt", "art/old.bin"},
        LFS.format("art/a.bin, art/b.bin"),
    ),
    "a pointer of Git LFS": (
        "printf 'version https://git-lfs.github.com/spec/v1\\noid x\\n' > art/b.bin",
        {"art/b.bin"},
    ),
    "raw files where encryption is asked for": (
        (
            "echo '*.key filter=git-crypt diff=git-crypt' >> .gitattributes; echo k > "
            f"own.key; {COMMIT}; {WORK}"
        ),
        {".gitattributes", "new.py"},
        CRYPT.format("own.key"),
    ),
    "Git LFS asked for with the file": (
        "mkdir more; cp art/.gitattributes more; echo raw > more/b.bin",
        {"more/.gitattributes"},
        LFS.format("more/b.bin"),
    ),
}


@pytest.fixture
def forge(tmp_path: Path) -> Forge:
    made = Forge(tmp_path)
    seed = made.root / "seed"
    for name, text in FILES.items():
        found = subprocess.run(
            ["git", "hash-object", "-w", "--stdin"],
            cwd=seed,
            input=text,
            capture_output=True,
            check=True,
        )
        blob = found.stdout.decode().strip()
        git("update-index", "--add", "--cacheinfo", f"100644,{blob},{name}", cwd=seed)
    target = git("rev-parse", ":README.md", cwd=seed)
    for link in (f"160000,{made.base},lib", f"120000,{target},old/link"):
        git("update-index", "--add", "--cacheinfo", link, cwd=seed)
    git("commit", "-q", "-m", "More", cwd=seed)
    git("push", "-q", str(made.bare), "main", cwd=seed)
    made.base = git("rev-parse", "HEAD", cwd=seed)
    return made


def worked(forge: Forge, script: str) -> tuple[Workspace, Work]:
    folder, scratch = forge.root / "checkout", forge.root / "scratch"
    for each in (folder, scratch):
        shutil.rmtree(each, ignore_errors=True)
        each.mkdir()
    inputs = job_inputs.read_inputs(forge.environment("0" * 40))
    workspace = prepare_workspace(inputs, forge.started("sh"), folder, scratch)
    argv = ["sh", "-ec", script]
    subprocess.run(argv, cwd=folder, env=CLEAN, check=True, capture_output=True)
    message = CommitMessage("Do it", "t")
    return workspace, AttemptCommits(workspace, patient(60)).keep(message)


def test_the_work_lands_and_what_is_no_work_is_left_out_by_name(forge: Forge) -> None:
    for name, (script, files, *left_out) in CASES.items():
        workspace, work = worked(forge, script)

        assert {each.path for each in work.changes} == files, name
        assert work.left_out == (*left_out,), name
        assert work.faults == (), name
        assert bool(work.commit) == bool(files), name
        assert refusals((*work.changes, *work.between), 0, Gate(), Limits()) == (), name
        if work.commit:
            kept = git("ls-tree", work.commit, "lib", cwd=workspace.store)
            assert kept.startswith("160000 commit"), name
            seen = CommitRange(workspace.store).whole(workspace.base, work.commit)
            assert {each.change for each in seen} == {*work.changes}, name


def test_an_edit_keeps_the_line_ends_that_all_of_a_text_had(forge: Forge) -> None:
    for script, sizes in (
        ("printf 'a\\nc\\n' > win.cfg", {"win.cfg": 6}),
        (f"sed -i s/b/c/ win.cfg; echo d >> win.cfg; {COMMIT}", {"win.cfg": 9}),
        ("printf 'a\\r\\nc\\r\\n' > unix.cfg", {"unix.cfg": 4}),
        ("printf 'c\\r\\n' >> unix.cfg", {"unix.cfg": 7}),
        ("printf 'a\\nb\\n' > win.cfg", {"win.cfg": 4}),
    ):
        workspace, work = worked(forge, script)

        for name, size in sizes.items():
            blob = f"{work.commit}:{name}"
            assert git("cat-file", "-s", blob, cwd=workspace.store) == str(size), script


def test_a_key_that_the_base_shows_keeps_no_work_back(forge: Forge) -> None:
    keys = Redaction(("vendored", "placeholder"))
    for name, word, is_kept in (
        ("a word of a file's name alone", "vendored", False),
        ("no word of the base", "placeholder", False),
        ("a word of the base", "[submodule", True),
        ("lines of the base", "path = lib\n\turl = ../lib.git", False),
    ):
        workspace, work = worked(forge, f"printf '%s' '{word}' > new.py")
        known = Redaction((*keys.known, word))

        kept = without_leaks(work, workspace, Gate(), known)

        assert bool(kept.commit) == is_kept, name
        assert bool(kept.leaks) != is_kept, name
    assert keys.but(("Mind the placeholder.",)).known == ("vendored",)
