"""The folders, files and environment of a workflow run's process.

The names and meanings are those of an Actions job; nothing of the forge's own
environment is in it. https://docs.github.com/en/actions/reference/workflows-and-actions/variables
"""

import os
import platform
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from msgspec import Raw, json

from brat.forge.resources.repository_resource import Repository
from brat.forge.resources.run_resource import JOB_NAME, Run
from brat.forge.service.programs import plain_environment
from brat.forge.wire.urls import Site
from grite import outbound

SECRET: Final = "BRAT_SECRET_"  # noqa: S105  the beginning of a name
"""The prefix of the forge's variables that runs get as secrets, without prefix."""
_FILES: Final = {
    "GITHUB_OUTPUT": "output",
    "GITHUB_ENV": "env",
    "GITHUB_PATH": "path",
    "GITHUB_STEP_SUMMARY": "summary.md",
}
_ARCH: Final = {"x86_64": "X64", "amd64": "X64", "aarch64": "ARM64", "arm64": "ARM64"}
_SYSTEM: Final = {"Darwin": "macOS"}


@dataclass(frozen=True, slots=True)
class Place:
    """The folder of one run, runs/<id>/."""

    folder: Path

    @property
    def workspace(self) -> Path:
        """Where the process starts."""
        return self.folder / "workspace"

    @property
    def result(self) -> Path:
        """The runner's result folder; its files become the artifact."""
        return self.folder / "result"

    @property
    def log(self) -> Path:
        """The process's output."""
        return self.folder / "log.txt"

    def artifact(self, name: str) -> Path:
        """The zip of an artifact."""
        return self.folder / "artifacts" / f"{name}.zip"

    def prepare(self, event: dict[str, Any] | Raw) -> None:
        """Make the folders, the empty files and event.json; safe to call twice."""
        for name in ("workspace", "home", "temp", "artifacts"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        for name in _FILES.values():
            (self.folder / name).touch()
        (self.folder / "event.json").write_bytes(json.encode(event))

    def clear(self) -> None:
        """Remove folders that GitHub discards with its machine; safe to call twice.

        A killed run leaves its checkout there.
        """
        for name in ("workspace", "home", "temp"):
            shutil.rmtree(self.folder / name, ignore_errors=True)


def environment(
    site: Site, repo: Repository, run: Run, place: Place, actor: str
) -> dict[str, str]:
    """Build the environment of a run's process."""
    folder = place.folder
    system = platform.system()
    files = {name: str(folder / file) for name, file in _FILES.items()}
    return (
        plain_environment()
        | outbound.here().variables
        | files
        | _facts(site, repo, run, actor)
        | {
            "HOME": str(folder / "home"),
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_WORKSPACE": str(place.workspace),
            "GITHUB_JOB": JOB_NAME,
            "RUNNER_OS": _SYSTEM.get(system, system),
            "RUNNER_ARCH": _ARCH.get(platform.machine().lower(), platform.machine()),
            "RUNNER_NAME": "local",
            "RUNNER_TEMP": str(folder / "temp"),
            "RUNNER_TOOL_CACHE": str(folder.parent / "tools"),
            "BRAT_SESSION": run.inputs.get("session", ""),
            "BRAT_LOG": run.inputs.get("log", ""),
            "BRAT_RESULT": str(place.result),
        }
        | _secrets()
    )


def secret_names() -> tuple[str, ...]:
    """Return the names of the runs' secrets."""
    return tuple(sorted(_secrets()))


def _secrets() -> dict[str, str]:
    """Return the runs' secrets from the forge's own environment."""
    ours = os.environ  # noqa: TID251  they are settings of the forge
    return {
        name.removeprefix(SECRET): value
        for name, value in ours.items()
        if name.startswith(SECRET)
    }


def _facts(site: Site, repo: Repository, run: Run, actor: str) -> dict[str, str]:
    return {
        "GITHUB_EVENT_NAME": run.event,
        "GITHUB_RUN_ID": str(run.id),
        "GITHUB_RUN_NUMBER": str(run.number),
        "GITHUB_RUN_ATTEMPT": "1",
        "GITHUB_REPOSITORY": repo.full_name,
        "GITHUB_REPOSITORY_ID": str(repo.id),
        "GITHUB_REPOSITORY_OWNER": repo.owner,
        "GITHUB_SERVER_URL": site.base,
        "GITHUB_API_URL": site.api,
        "GITHUB_REF": f"refs/heads/{run.branch}",
        "GITHUB_REF_NAME": run.branch,
        "GITHUB_REF_TYPE": "branch",
        "GITHUB_SHA": run.head_sha,
        "GITHUB_WORKFLOW": run.path.rpartition("/")[2].rpartition(".")[0],
        "GITHUB_ACTOR": actor,
        "GITHUB_TRIGGERING_ACTOR": actor,
    }
