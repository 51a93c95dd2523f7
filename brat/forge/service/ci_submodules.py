"""The submodules of the checkout that a CI job runs in.

They are fetched as `actions/checkout` does with `submodules: recursive`, from the
person's own copies where those have the commit, else from the addresses in .gitmodules.
https://github.com/actions/checkout#usage
"""

from pathlib import Path
from typing import Final

from brat.forge.storage.git_storage import Bare
from grite import git
from grite.errors import BratError, GitFailed, Unavailable

SUBMODULE_S: Final = 120.0
DEEPEST: Final = 10
"""How far submodules may lie inside one another."""
_FILES: Final = ("-c", "protocol.file.allow=always")
"""Git fetches no submodule from a path unless it is told to.
https://git-scm.com/docs/git-config (protocol.allow)
"""


class NoSubmodule(BratError):
    """A submodule could not be fetched; its text is one sentence."""


def fill(work: Path, bare: Bare, own: Path | None) -> list[str]:
    """Check out the submodules of a checkout of `bare`.

    One that cannot be fetched is left empty if the person's own checkout does without
    it, too: a sentence on each is returned.

    Args:
        work: the checkout.
        bare: the repository that it came from.
        own: the person's own checkout; None: there is none.

    Raises:
        NoSubmodule: one could not be fetched.
    """
    origin = _origin(own) if own else str(bare.path)
    return _fill(work, origin, _git_folder(own), own)


def _origin(own: Path) -> str:
    """Return the address that relative ones are relative to, as for git itself."""
    said = _read(own, "config", "remote.origin.url")
    return str((own / said).resolve()) if said.startswith(".") else said or str(own)


def _git_folder(own: Path | None) -> Path | None:
    said = _read(own, "rev-parse", "--git-common-dir") if own else ""
    return own / said if own and said else None


def _fill(
    folder: Path, origin: str, kept: Path | None, own: Path | None, depth: int = 1
) -> list[str]:
    """Check out the submodules of a checkout, and theirs.

    Args:
        folder: the checkout.
        origin: the address that it came from.
        kept: the git folder of the person's own copy; None: there is none.
        own: the person's own checkout of it; None: there is none.
        depth: how far the checkout lies inside others.
    """
    left = []
    git.run(["config", "remote.origin.url", origin], cwd=folder)
    for name, path in _submodules(folder):
        try:
            git.run(["submodule", "--quiet", "init", "--", path], cwd=folder)
            url = _read(folder, "config", f"submodule.{name}.url")
            copy = kept / "modules" / name if kept else None
            wanted = _read(folder, "rev-parse", f":{path}")
            if copy is not None and _holds(copy, wanted):
                git.run(["config", f"submodule.{name}.url", str(copy)], cwd=folder)
            update = ["submodule", "--quiet", "update", "--", path]
            git.run([*_FILES, *update], cwd=folder, deadline_s=SUBMODULE_S)
        except (GitFailed, Unavailable) as error:
            said = f"the submodule {path} cannot be fetched: {error}"
            if own is None or _read(own, "config", f"submodule.{name}.url"):
                raise NoSubmodule(said) from error
            left.append(f"{said.rstrip('.')}; your own checkout is without it, too.")
            continue
        if depth < DEEPEST and (folder / path / ".gitmodules").is_file():
            within = own / path if own else None
            left += _fill(folder / path, url, copy, within, depth + 1)
    return left


def _submodules(folder: Path) -> list[tuple[str, str]]:
    """Return the name and path of each submodule that .gitmodules lists."""
    asked = ["config", "-z", "-f", ".gitmodules", "--get-regexp", r"\.path$"]
    said = git.run(asked, cwd=folder, check=False).stdout.decode(errors="replace")
    listed = (line.partition("\n") for line in said.split("\0") if line)
    return [
        (key.removeprefix("submodule.").removesuffix(".path"), path)
        for key, _, path in listed
    ]


def _holds(repository: Path, commit: str) -> bool:
    asked = ["cat-file", "-e", f"{commit}^{{commit}}"]
    return (
        repository.is_dir() and git.run(asked, cwd=repository, check=False).status == 0
    )


def _read(folder: Path, *args: str) -> str:
    """Return the line that a git command prints; empty: it failed."""
    return git.run(args, cwd=folder, check=False).stdout.decode().strip()
