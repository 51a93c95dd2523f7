"""The workflow files in an adopter's repository: written once, and compared.

Once written, the files belong to the repository: people's changes stay. They pin the
commit of brat's own repository that this installation was made from; pip notes it when
it installs from a repository: https://peps.python.org/pep-0610/.
"""

import json
import re
from collections.abc import Collection, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlsplit

from msgspec import Struct

from bot.forge.workflows import lack_of_ci
from bot.settings.hosts import is_cloud
from brat.repository.checkout import Checkout
from brat.repository.remote_forge import origin_of
from brat.terminal.console import say
from grite import git
from grite.errors import BratError
from grite.outbound import is_local

PACKAGE: Final = "brat-bot"
_SOURCE: Final = re.compile(r"https://[\w.:/-]+")
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")


class Pin(NamedTuple):
    source: str
    commit: str


def installed_from() -> Pin | None:
    """Return the installed commit; None: it came from a registry or a folder."""
    try:
        noted = distribution(PACKAGE).read_text("direct_url.json")
    except PackageNotFoundError:
        return None
    return pin_in(noted or "")


def pin_in(noted: str) -> Pin | None:
    """Return the commit that pip's note names, or that the checkout it names is at.

    None: it names none, or one that is not published.
    """
    try:
        told = json.loads(noted)
        source = str(told["url"])
        commit = str(told.get("vcs_info", {}).get("commit_id", ""))
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    folder = Path(urlsplit(source).path)

    def asked(*words: str) -> str:
        return git.run(words, cwd=folder, check=False).stdout.decode().strip()

    if not commit and (folder / ".git").exists():
        source = asked("remote", "get-url", "origin").removesuffix(".git")
        source = re.sub(r"^(?:ssh://)?git@([\w.-]+)[:/]", r"https://\1/", source)
        head = asked("rev-parse", "HEAD")
        commit = head if asked("branch", "-r", "--contains", head) else ""
    is_whole = _SOURCE.fullmatch(source) and _COMMIT.fullmatch(commit)
    return Pin(source, commit) if is_whole else None


LOOP: Final = "brat.yml"
"""The one file of the mode without a server: it calls brat's own at a commit."""
WAKE: Final = "brat-wake.yml"
COPIED: Final = (LOOP, "brat-jobs.yml", "brat-task.yml", WAKE)
"""The same with copies of what it calls, for Enterprise Server: it cannot call a
repository of github.com, and takes another version of the upload."""
HOSTED: Final = ("brat-task.yml", "brat-task-live.yml")
"""The files for a self-hosted bot, which dispatches one of them."""
EVERY: Final = (*COPIED, HOSTED[1])
FOLDER: Final = ".github/workflows"
_OURS: Final = (
    Path(__file__).parents[1] / "workflows",  # installed
    Path(__file__).parents[2] / "workflows",  # a checkout of brat
)
UPLOAD: Final = "actions/upload-artifact@"
ON_SERVER: Final = "c24449f33cd45d4826c6702db7e49f7cdb9b551d # v3.2.1-node20"
"""The upload for Enterprise Server, which takes none of version 4. github.com in turn
fails every job that names version 3, even behind an `if`.

https://github.com/actions/upload-artifact/tree/v4.6.2#v4---whats-new
https://github.blog/changelog/2024-04-16-deprecation-notice-v3-of-the-artifact-actions/
"""
_UPLOAD: Final = re.compile(rf"(?<={UPLOAD})[0-9a-f]{{40}} # v4\S*")
NO_DEPLOYMENT: Final = ("{ name: brat, deployment: false }", "brat")
"""Of the environment. Enterprise Server may be too old for that key, which would make
the file invalid, and so lists each of the loop's jobs as a deployment.

https://docs.github.com/actions/how-tos/deploy/configure-and-manage-deployments/control-deployments#using-environments-without-deployments
"""
_PIN: Final = re.compile(
    r"(?m)^( +BRAT_(SOURCE|COMMIT): )"
    r"(\"[^\"\n]*\"|\$\{\{ inputs\.\w+ \|\| '[^'\n]*' \}\})"
)
_CALL: Final = re.compile(
    r"(?m)^    uses: \S+/brat-jobs\.yml.*\n"
    r"    with:\n      source: .*\n      commit: .*\n"
)
_CI: Final = re.compile(r"(?m)^(    workflows: )\[.*\]")
_NAME: Final = re.compile(r"(?m)^name: *(['\"]?)(.+?)\1 *(?:#.*)?$")
_NO_LIST: Final = re.compile(r"[\[\]{},\"'\n]")


UNPINNED: Final = (
    "brat was not installed from a commit, so choose the commit that jobs use: "
    "replace OWNER and COMMIT"
)


class Differs(Struct, frozen=True):
    name: str
    is_there: bool
    is_ours: bool
    """Whether it equals this version's file, except for the names of CI workflows."""


def adopt(checkout: Checkout, names: tuple[str, ...]) -> int:
    """Write the files and say what to do next; safe to call again.

    Returns the exit status: 1 when a file exists that is not this version's.
    """
    found, pin = compare(checkout, names), installed_from()
    write_missing(checkout, found)
    for each in found:
        if not each.is_there:
            say(f"wrote {FOLDER}/{each.name}")
        elif each.is_ours:
            say(f"{FOLDER}/{each.name} already exists")
        else:
            say(
                f"{FOLDER}/{each.name} differs from this version's file and is left "
                "unchanged; to replace it, remove it and try again"
            )
    if pin is None:
        say(f"{UNPINNED} in {FOLDER}")
    say(
        f'next: git add {FOLDER} && git commit -m "Let brat work here" && git push; '
        "then label an issue brat"
    )
    return 1 if any(each.is_there and not each.is_ours for each in found) else 0


def write_missing(checkout: Checkout, found: Sequence[Differs]) -> None:
    folder = checkout.top / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for each in found:
        if not each.is_there:
            text = proposed(checkout, each.name)
            (folder / each.name).write_text(text, encoding="utf-8")


def proposed(checkout: Checkout, name: str) -> str:
    """Return this version's text of a file, as the checkout's repository needs it."""
    text = _with_ci(text_of(name), ci_names(checkout))
    pin, is_copied = installed_from(), _is_on_server(checkout)
    text = _with_call(_with_pin(text, pin), pin, is_copied=is_copied)
    return _for_server(text) if is_copied else text


def _for_server(text: str) -> str:
    return _UPLOAD.sub(ON_SERVER, text).replace(*NO_DEPLOYMENT)


def needed(checkout: Checkout) -> tuple[str, ...]:
    """Return the names of the files that a repository without a server needs.

    No event tells that a run has ended which a job's token started, as CI's is.
    """
    return COPIED if _is_on_server(checkout) else (LOOP, WAKE)


def compare(checkout: Checkout, names: tuple[str, ...] = EVERY) -> tuple[Differs, ...]:
    found = []
    for name in names:
        file = checkout.top / FOLDER / name
        text = file.read_text(errors="replace") if file.is_file() else ""
        found.append(Differs(name, file.is_file(), is_ours(name, text)))
    return tuple(found)


def is_ours(name: str, text: str) -> bool:
    """Whether a file's text is this version's, for GitHub or for Enterprise Server.

    The names of CI workflows, and the commit to install, do not count.
    """
    ours = _CALL.sub("", _with_ci(text_of(name), ()))
    text = _CALL.sub("", _with_ci(_with_pin(text, None), ()))
    return text in {ours, _for_server(ours)}


def ci_names(checkout: Checkout) -> tuple[str, ...]:
    """Return the names of the repository's own workflows, which are taken for CI."""
    names = []
    for file, text in own(checkout).items():
        named = _NAME.search(text)
        names.append(named[2] if named else f"{FOLDER}/{file}")
    return tuple(name for name in names if not _NO_LIST.search(name))


def ci_lack(checkout: Checkout, names: Collection[str]) -> tuple[str, str] | None:
    """Return why the repository's own workflows cannot judge, and what mends it."""
    by_job, target = LOOP in names, default_branch(checkout)
    return lack_of_ci(own(checkout), by_job=by_job, target=target)


def default_branch(checkout: Checkout) -> str:
    """Return the branch that the origin names as its own, else the checked out one."""
    asked = ["symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD"]
    found = git.run(asked, cwd=checkout.top, check=False).stdout.decode().strip()
    return found.removeprefix("origin/") or checkout.branch


def _is_on_server(checkout: Checkout) -> bool:
    """Whether the checkout's origin is on an Enterprise Server."""
    try:
        host = origin_of(checkout.top).host
    except BratError:
        return False
    return not is_cloud(host) and not is_local(host)


def own(checkout: Checkout) -> dict[str, str]:
    """Return the texts of the repository's own workflow files, by name."""
    files = sorted((checkout.top / FOLDER).glob("*.y*ml"))
    return {
        file.name: file.read_text(errors="replace")
        for file in files
        if file.name not in EVERY
    }


def awaited(checkout: Checkout) -> str | None:
    """Return the line of brat.yml that names CI workflows, or None."""
    file = checkout.top / FOLDER / LOOP
    found = _CI.search(file.read_text(errors="replace")) if file.is_file() else None
    return found[0].strip() if found else None


def text_of(name: str) -> str:
    for folder in _OURS:
        if (folder / name).is_file():
            return (folder / name).read_text(encoding="utf-8")
    raise BratError(f"this installation of brat has no {name}: reinstall brat")


def _with_pin(text: str, pin: Pin | None) -> str:
    told = {"SOURCE": pin.source, "COMMIT": pin.commit} if pin else {}

    def filled(found: re.Match[str]) -> str:
        value = told.get(found[2], "")
        if found[3].startswith('"'):
            return f'{found[1]}"{value}"'
        return f"{found[1]}${{{{ inputs.{found[2].lower()} || '{value}' }}}}"

    return _PIN.sub(filled, text)


def _with_call(text: str, pin: Pin | None, *, is_copied: bool) -> str:
    """Let brat.yml call brat's jobs: the copy beside it, or those of a commit."""
    if pin is None and not is_copied:
        return text
    source, commit = pin or Pin('""', '""')
    owner = urlsplit(source).path.strip("/").removesuffix(".git")
    jobs = f"{FOLDER}/{COPIED[1]}"
    uses = f"./{jobs} # zizmor: ignore[self-repository]"
    if not is_copied:
        uses = f"{owner}/{jobs}@{commit}"
    told = f"      source: {source}\n      commit: {commit}\n"
    return _CALL.sub(lambda _: f"    uses: {uses}\n    with:\n{told}", text)


def _with_ci(text: str, names: tuple[str, ...]) -> str:
    listed = ", ".join(f'"{name}"' for name in names) or "CI"
    return _CI.sub(lambda found: f"{found[1]}[{listed}]", text)
