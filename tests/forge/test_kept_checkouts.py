"""CI jobs use one checkout after another, and none finds what another left."""

import os
import signal
from pathlib import Path

import pytest

from brat.forge.service.ci_checkout import WORK, keep_tree, take_kept
from tests.forge.test_ci import judged
from tests.world.forge import Checkout, Json, Town

pytestmark = pytest.mark.layer("landing")

SHOWN = (
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


async def pushed(checkout: Checkout, commit: str) -> str:
    branch = f"refs/heads/brat/queue/main/{commit}"
    await checkout.git("push", "--quiet", "origin", f"{commit}:{branch}")
    return commit


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


async def said(here: Town, commit: str) -> str:
    check: Json = await judged(here, commit)
    assert check["conclusion"] == "success", check["output"]
    return str(check["output"]["text"])


async def again(checkout: Checkout, commit: str, message: str) -> str:
    """Push a commit of the same tree, which CI has not judged yet; return it."""
    made = ("commit-tree", f"{commit}^{{tree}}", "-p", f"{commit}^", "-m", message)
    return await pushed(checkout, await checkout.git(*made))


@pytest.mark.timeout(600)
async def test_a_job_finds_the_commits_tree_whatever_the_last_one_left(
    here: Town,
) -> None:
    first, second, checkout = await two_commits(here)
    here.judge(SHOWN)
    fresh = await said(here, await pushed(checkout, second))
    kept = here.forge.folder / "ci-kept"
    for number, (name, left) in enumerate(LEFTOVERS.items()):
        for folder in kept.glob("*/*"):
            folder.rename(here.forge.folder / f"away-{number}")
        here.judge(left)
        await said(here, await again(checkout, first, name))
        here.judge(SHOWN)

        found = await said(here, await again(checkout, second, name))

        assert len([*kept.glob("*/*")]) == 1, name
        assert found == fresh, name


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


async def test_changed_attributes_count_for_files_that_did_not_change(
    here: Town,
) -> None:
    first, _, checkout = await two_commits(here)
    second = await checkout.commit(".gitattributes", "*.txt text eol=crlf\n")
    here.judge("cat same.txt")

    texts = [await said(here, await pushed(checkout, one)) for one in (first, second)]

    assert texts == ["as it was\n", "as it was\r\n"]


async def test_no_checkout_is_used_again_in_which_a_program_was_left(
    here: Town, tmp_path: Path
) -> None:
    first, second, checkout = await two_commits(here)
    pid = tmp_path / "pid"
    shown = "stat -c '%i %z' same.txt"  # a file system may give an inode again
    start = f"setsid sh -c 'echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 600' &"
    here.judge(f"{start} until test -e {pid}; do :; done; {shown}", box="off")
    try:
        one = await said(here, await pushed(checkout, first))
        os.kill(int(pid.read_text()), 0)
        here.judge(shown, box="off")
        two = await said(here, await pushed(checkout, second))
    finally:
        os.kill(int(pid.read_text()), signal.SIGKILL)

    assert one != two
