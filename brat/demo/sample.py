"""The demo's project: a small package with seven bugs, written as a git repository.

Its files lie as they are in examples/demo-project, and in an installed brat beside the
modules. The commit's author and date are fixed, so that every run of the demo starts
from the same commit id.
"""

import json
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from brat.local.start_checks import model_keys
from convoy.config import Config
from convoy.model.records import EngineSpec
from convoy.text import did_you_mean
from grite import git
from grite.errors import BratError
from runner.engines import ENGINES
from runner.engines.row import Call, program_of

CLIS: Final = {name: row for name, row in ENGINES.items() if row.install}
"""The engines that the demo can use besides its own shell script."""


def chosen(name: str, model: str | None) -> EngineSpec | None:
    """Return the engine that a person asks for; None: the demo's own shell script."""
    if name == "shell":
        if model is not None:
            raise BratError("--model requires --engine, such as --engine claude-code")
        return None
    row = CLIS.get(name)
    if row is None:
        known = ", ".join(["shell", *CLIS])
        hint = did_you_mean(name, CLIS)
        raise BratError(f"the demo has no engine {name!r}; it supports {known}{hint}")
    if model is None:
        raise BratError(
            f"--engine requires --model, such as --model {row.sample_model}"
        )
    spec = EngineSpec(type=name, model=model)
    program = program_of(row, spec)
    if shutil.which(program) is None:
        raise BratError(
            f"{program} is not installed: run `{row.install}`, then try again"
        )
    call = Call(row, spec).with_key(model_keys(Config()))
    if missing := call.missing_key():
        raise BratError(
            f"{missing} Without --engine, a script takes the agent's place."
        )
    return spec


BRANCH = "main"
_SHELL = 'type = "shell"\nargs = ["sh", ".brat/agent.sh"]\n'
DEADLINE_S = 30.0
_BRAT = Path(__file__).parents[1]
_SOURCES = (_BRAT / "demo-project", _BRAT.parent / "examples/demo-project")
AUTHOR = {
    "GIT_AUTHOR_NAME": "brat demo",
    "GIT_AUTHOR_EMAIL": "demo@brat.invalid",
    "GIT_AUTHOR_DATE": "2026-01-01T00:00:00Z",
    "GIT_COMMITTER_NAME": "brat demo",
    "GIT_COMMITTER_EMAIL": "demo@brat.invalid",
    "GIT_COMMITTER_DATE": "2026-01-01T00:00:00Z",
}


@dataclass(frozen=True)
class Sample:
    """The project as written, and the issue that asks for its bugs to be fixed."""

    path: Path
    """The repository's work tree, clean, with one commit on `BRANCH`."""
    ci_command: str
    """As in its .brat/config.toml: green while `known_bugs/` tells the truth."""
    issue_title: str
    issue_text: str
    """Markdown with a list of seven tasks."""


def write(folder: Path, engine: EngineSpec | None = None) -> Sample:
    """Write the project into `folder`, which is made where it is missing.

    With an `engine` that does the tasks it comes without the script and its patches.

    Raises:
        FileExistsError: there is something in `folder`; nothing was written.
        grite.errors.BratError: git failed; what was written is left there.
    """
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} is not empty: choose an empty or new folder")
    source = next(folder for folder in _SOURCES if folder.is_dir())
    _copy(source / "project", folder)
    if engine is not None:
        own = folder / ".brat"
        shutil.rmtree(own / "patches")  # the answers
        (own / "agent.sh").unlink()
        file = own / "config.toml"
        _, _, said = file.read_text(encoding="utf-8").partition("\n\n")
        named = f'type = "{engine.type}"\nmodel = {json.dumps(engine.model)}\n'
        file.write_text(said.replace(_SHELL, named), encoding="utf-8")
    for args in (
        ["init", "--quiet", "--template=", f"--initial-branch={BRANCH}"],
        ["add", "--all"],
        ["commit", "--quiet", "--message=Sign people in with tokens"],
    ):
        git.run(args, cwd=folder, deadline_s=DEADLINE_S, env=AUTHOR)
    config = tomllib.loads((folder / ".brat/config.toml").read_text(encoding="utf-8"))
    issue = (source / "issue.md").read_text(encoding="utf-8")
    title, _, text = issue.partition("\n")
    return Sample(
        path=folder,
        ci_command=config["ci"]["command"],
        issue_title=title.removeprefix("# "),
        issue_text=text.lstrip("\n"),
    )


def _copy(source: Path, target: Path) -> None:
    """Copy what files hold, not their rights: nobody may write an installed brat."""
    target.mkdir(parents=True, exist_ok=True)
    for entry in source.iterdir():
        if entry.name == "__pycache__":  # installers compile what a wheel holds
            continue
        if entry.is_dir():
            _copy(entry, target / entry.name)
        else:
            (target / entry.name).write_bytes(entry.read_bytes())
