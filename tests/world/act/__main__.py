"""`python -I -m tests.world.act`: run one workflow file with act.

The forge starts this process with a run's environment, and the process becomes act.
The workflow file comes from the run's branch; if the branch has no brat-task.yml, ours
is used. If the branch has a ci.yml, the variable BRAT_CI_WORKFLOW names it, and without
the loop's key none names who may sign. Three things differ from GitHub: ./upload stands
in for actions/upload-artifact, this checkout's files for those of the commit that
brat.yml calls, and act knows no environment without deployments.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

from brat.repository.workflow_files import EVERY, FOLDER, NO_DEPLOYMENT, text_of
from grite import git, trusted_programs
from tests.world.act.running import MACHINES

CALLED: Final = ("brat-jobs.yml", "brat-task.yml")
UPLOAD: Final = Path(__file__).parent / "upload"
CI: Final = "ci.yml"
HANDED_ON: Final = (
    *("GITHUB_SERVER_URL", "GITHUB_API_URL", "GITHUB_REPOSITORY", "GITHUB_RUN_ID"),
    "GITHUB_REPOSITORY_ID",
)
ARTIFACTS: Final = ("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL")
SIGNERS: Final = "BRAT_ALLOWED_SIGNERS"
LOG_KEY: Final = "BRAT_LOG_KEY"
_PIN: Final = re.compile(r"actions/upload-artifact@[0-9a-f]{40}")
_CALLED: Final = re.compile(r"uses: ([\w.-]+/[\w.-]+)/\S+/brat-jobs\.yml(@\S+)")
_SECRET: Final = re.compile(r"secrets\.([A-Z][A-Z0-9_]*)")
_OURS: Final = os.environ


def arguments(folder: Path, workflow: Path) -> list[str]:
    """Return act's command line for the run in `folder`; it contains no secret."""
    url = _OURS["GITHUB_SERVER_URL"]
    text = workflow.read_text(encoding="utf-8")
    called = _CALLED.search(text)
    for name in CALLED if called else ():
        file = folder / "called" / FOLDER / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(_known_to_act(name), encoding="utf-8")
        text += text_of(name)
    pins = _PIN.findall(text)
    platforms = (f"--platform={each}=-self-hosted" for each in MACHINES)
    return [
        *("act", _OURS["GITHUB_EVENT_NAME"], "--workflows", str(workflow)),
        *("--eventpath", str(folder / "event.json")),
        *(*platforms, "--pull=false", "--rm"),
        *("--no-cache-server", "--action-cache-path", str(folder / "actions")),
        *_each("--local-repository", (f"{url}/{pin}={UPLOAD}" for pin in set(pins))),
        *_each(
            "--local-repository",
            [f"{url}/{called[1]}{called[2]}={folder / 'called'}"] if called else [],
        ),
        *_each("--env", map(stated, HANDED_ON)),
        *("--env-file", str(folder / "act.env")),
        *_each("--secret", ("GITHUB_TOKEN", *_secrets(text))),
        *_each("--var", _variables(workflow)),
    ]


def _each(option: str, values: Iterable[str]) -> list[str]:
    return [word for value in values for word in (option, value)]


def _variables(workflow: Path) -> Iterator[str]:
    if workflow.with_name(CI).exists():
        yield f"BRAT_CI_WORKFLOW={CI}"
    if SIGNERS in _OURS and (workflow.name != "brat.yml" or LOG_KEY in _OURS):
        yield stated(SIGNERS)


def _secrets(text: str) -> list[str]:
    """Return the names of the secrets that the workflow asks for and the run has."""
    return sorted(name for name in set(_SECRET.findall(text)) if name in _OURS)


def checked_out(token: str) -> Path:
    """Clone the run's branch, change into the clone, and return its workflow folder."""
    host, name = _OURS["GITHUB_SERVER_URL"], _OURS["GITHUB_REPOSITORY"]
    asked = ("--quiet", "--depth=1", f"--branch={_OURS['GITHUB_REF_NAME']}")
    url = f"{host}/{name}.git"
    git.run(["clone", *asked, url, "checkout"], env=git.authorization(token))
    os.chdir("checkout")
    return Path.cwd() / FOLDER


def found(name: str, folder: Path, token: str) -> Path:
    """Return the run's workflow file: the repository's if it has one, else ours."""
    file = checked_out(token) / name
    if file.exists() and _CALLED.search(file.read_text(encoding="utf-8")):
        for each in CALLED:  # act looks for `./` in the caller's repository
            file.with_name(each).write_text(_known_to_act(each), encoding="utf-8")
    if file.exists() or name not in EVERY:
        return file
    ours = folder / name
    ours.write_text(_known_to_act(name), encoding="utf-8")
    return ours


def _known_to_act(name: str) -> str:
    return text_of(name).replace(*NO_DEPLOYMENT)


def stated(name: str, prefix: str = "") -> str:
    """Return a variable of our own environment as `NAME=value`."""
    return f"{prefix}{name}={_OURS[name]}"


def main() -> None:
    """Become act; act's exit status becomes the run's."""
    folder = Path(_OURS["BRAT_RUN_DIR"])
    variables = folder / "act.env"
    variables.touch(mode=0o600)
    # act sets the unprefixed names itself
    told = [stated(name, "BRAT_") for name in ARTIFACTS]
    variables.write_text("\n".join(told), encoding="utf-8")
    with os.fdopen(int(_OURS["BRAT_TOKEN_FD"])) as pipe:
        token = pipe.read()
    workflow = found(f"{_OURS['GITHUB_WORKFLOW']}.yml", folder, token)
    argv = arguments(folder, workflow)
    kept = ("PATH", "HOME", "LANG", *_secrets(workflow.read_text(encoding="utf-8")))
    env = {name: _OURS[name] for name in kept} | {"GITHUB_TOKEN": token}
    act = trusted_programs.found("act")
    if not Path(act).is_absolute():
        raise SystemExit("act is not installed")
    os.execve(act, argv, env)  # noqa: S606  a signal must reach act itself


if __name__ == "__main__":
    main()
