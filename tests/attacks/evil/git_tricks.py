"""What lies in the checkout for the git that comes after: hooks, settings, filters."""

import os
import subprocess
from pathlib import Path

from tests.attacks.evil.targets import Targets, attempt

HOOKS = (
    *("pre-commit", "post-commit", "post-checkout", "post-index-change"),
    *("reference-transaction", "pre-push", "post-rewrite", "fsmonitor-watchman"),
)
SETTINGS = (
    *("core.fsmonitor", "core.sshCommand", "core.pager", "core.editor"),
    *("core.askPass", "credential.helper", "diff.external", "filter.evil.clean"),
    *("filter.evil.smudge", "filter.evil.process", "uploadpack.packObjectsHook"),
    *("gpg.ssh.program", "core.alternateRefsCommand", "alias.status"),
)


def _script(at: Targets, word: str) -> str:
    return f'#!/bin/sh\n[ -n "$EVIL" ] || echo {word} >> {at.marker}\nexit 0\n'


@attempt
def hooks_of_the_checkout(at: Targets) -> str:
    """Leave hooks; whether a git outside runs one is looked at there."""
    for folder in (".git/hooks", ".githooks", ".husky"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        for name in HOOKS:
            file = Path(folder, name)
            file.write_text(_script(at, f"the hook {name}"))
            file.chmod(0o755)
    return ""


@attempt
def settings_of_the_checkout(at: Targets) -> str:
    """Leave settings that name programs, in the checkout and in a file it includes."""
    program = Path("evil-setting.sh").absolute()
    program.write_text(_script(at, "a setting of git"))
    program.chmod(0o755)
    named = "".join(_setting(name, f"!{program}") for name in SETTINGS)
    more = Path(".git/evil.config").absolute()
    more.write_text(named)
    with Path(".git/config").open("a") as file:
        file.write(named)
        file.write(_setting("include.path", str(more)))
        file.write(_setting("core.hooksPath", str(Path(".githooks").absolute())))
        file.write(_setting("extensions.worktreeConfig", "true"))
        file.write(_setting("core.worktree", at.home))
    return ""


def _setting(name: str, value: str) -> str:
    section, _, key = name.rpartition(".")
    first, _, second = section.partition(".")
    head = f'{first} "{second}"' if second else first
    return f'[{head}]\n\t{key} = "{value}"\n'


@attempt
def filters_of_the_checkout(at: Targets) -> str:
    """Name a filter for every file, so that adding one runs a program."""
    said = "* filter=evil diff=evil merge=evil\n"
    Path(".gitattributes").write_text(said)
    Path(".git/info").mkdir(parents=True, exist_ok=True)
    Path(".git/info/attributes").write_text(said)
    return ""


@attempt
def git_that_asks_for_a_password(at: Targets) -> str:
    """Ask git, as the agent and as whoever's home this is, for the forge's password."""
    for home in (os.environ["HOME"], at.home):
        done = subprocess.run(
            ["git", "credential", "fill"],
            input=b"protocol=https\nhost=github.com\n\n",
            env=os.environ | {"HOME": home},
            capture_output=True,
            timeout=20,
            check=False,
        )
        if at.holds(done.stdout):
            return f"got the password by git, with the home {home}"
    return ""
