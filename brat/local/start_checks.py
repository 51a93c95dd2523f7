"""What has to be here before work is asked for: history, engines, keys, CI's command.

The commands that ask for work refuse with these sentences before they open an issue,
and `brat doctor` shows the same ones.

A local run gets the terminal's variables that hold keys, as it would get a forge's
secrets: only those that the engines or the configuration name, and what agents and CI
are to see besides. The forge writes none of them to disk.
"""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

import pygit2
from msgspec import Struct
from msgspec.structs import asdict

from brat.forge.resources.forge_records import Ci
from brat.forge.service.local_ci import NAME as LOCAL_CI
from brat.forge.service.programs import HIDDEN, SHOWN, plain_environment
from brat.repository.checkout import Checkout, tip_of, worktree_on
from brat.repository.forge_files import forge_in_use
from brat.repository.registration import CONFIG, Registration, others_folder
from convoy.config import Config
from convoy.gate import path_list
from convoy.model import ids
from convoy.model.engine_types import ENGINE_TYPES
from convoy.model.records import EngineSpec
from grite import git
from grite.errors import BratError
from runner import engines
from runner.box import surroundings
from runner.box.surroundings import Sight, shows
from runner.engines.row import Call, program_of

_MOVE: Final = (
    "move it into the repository and give its path relative to the repository root"
)
MODEL_URL: Final = "BRAT_MODEL_URL"


def model_keys(config: Config) -> dict[str, str]:
    """Return the values of those variables that are set, by name.

    The paths among them are given from the root, for runs start elsewhere.
    """
    used = config.settings().engines.values()
    named = {engine.secret for engine in used if engine.secret}
    wanted = sorted({*engines.key_names(), *named, MODEL_URL})
    have = os.environ  # noqa: TID251  a person's own terminal is their settings
    found = {name: have[name] for name in wanted if have.get(name)}
    for name in (SHOWN, HIDDEN):
        listed = filter(None, have.get(name, "").split(os.pathsep))
        if paths := [os.path.abspath(each) for each in listed]:  # noqa: PTH100  no `..`
            found[name] = os.pathsep.join(paths)
    return found


_WORD: Final = re.compile(r"[\w./][\w./+-]*")
_SETTING: Final = re.compile(r"\w+=[\w./:,+-]*")
_PYTHON_MODULE: Final = re.compile(r"(python[\d.]*) -m (\w+)")
_INTERPRETER: Final = re.compile(r"(?:ba|da|z)?sh|python[\d.]*|node|ruby|perl")
_OF_BASH: Final = frozenset(("source", "pushd", "popd", "shopt", "declare"))
_OWN_FILE: Final = re.compile(r"\.env(?:rc|\..+)?|.+\.local(?:\..+)?|local\..+")
_MISNAMED: Final = ("brat.toml", ".brat.toml", ".brat/config.yml", ".brat/Config.toml")
_OF_ENV: Final = re.compile(r"/usr/bin/env|-.*|\w+=.*")
_LINE_BYTES: Final = 1000
_FOUND_S: Final = 10.0
_LISTED_S: Final = 600.0


class Lack(Struct, frozen=True):
    said: str
    mend: str

    def __str__(self) -> str:
        if self.said.endswith((".", "?")):
            return f"{self.said} {self.mend[:1].upper()}{self.mend[1:]}."
        return f"{self.said}: {self.mend}"


def require(*lacks: Lack) -> None:
    if lacks:
        raise BratError("\n".join(map(str, lacks)))


def clone_lacks(checkout: Checkout, known: Registration | None) -> Iterator[Lack]:
    """Yield why agents could not start from this clone, or their work not land.

    Where it is not registered, the local forge is to have a copy of all there is.
    """
    top, folder = checkout.top, checkout.folder
    if folder.exists() and folder.stat().st_uid != os.geteuid():
        yield Lack(*others_folder(folder))
    if (folder.parent / "shallow").exists():
        said = f"{top} is a shallow clone, but agents need the whole history"
        mend = "run `git fetch --unshallow`, or set fetch-depth: 0 for actions/checkout"
        yield Lack(said, mend)
    elif known is None and _is_partial(top):
        said = f"{top} is a partial clone, but agents need all of its files"
        mend = (
            "run `git fetch --refetch --no-filter`, or drop actions/checkout's filter"
        )
        yield Lack(said, mend)
    asked = ["ls-files", "-t", "--", CONFIG]
    is_here = checkout.config.exists()
    if not is_here and git.run(asked, cwd=top).stdout.startswith(b"S "):
        said = f"the sparse checkout of {top} leaves out {CONFIG}"
        yield Lack(said, f"run `git sparse-checkout add {CONFIG.partition('/')[0]}`")
    branch = known.branch if known else checkout.branch
    if own := ids.clashing(branch):
        said = f"the branch {branch} conflicts with brat's own refs, {own}"
        yield Lack(said, "run `git branch -m NAME` to rename it, then `brat init`")
    for name in () if checkout.config.exists() else _MISNAMED:
        if (top / name).is_file():
            yield Lack(f"brat does not read {name}", f"move its settings to {CONFIG}")
    yield from _first_line("the setup script", top, ".brat/setup.sh")
    for each in os.environ.get(SHOWN, "").split(os.pathsep):  # noqa: TID251  as above
        if each and not os.path.exists(each):  # noqa: PTH110  as long as anybody types
            yield Lack(f"{SHOWN} names {each}, which does not exist", "correct it")


def _is_partial(top: Path) -> bool:
    """Whether objects are missing that a remote has promised."""
    promised = ["config", "--get-regexp", r"^remote\..*\.promisor$|partialclone$"]
    if git.run(promised, cwd=top, check=False).status != 0:
        return False
    listed = ["rev-list", "--objects", "--no-object-names", "--missing=print", "HEAD"]
    return b"?" in git.run(listed, cwd=top, deadline_s=_LISTED_S).stdout


def branch_lacks(checkout: Checkout, known: Registration | None) -> Iterator[Lack]:
    """Yield why agents would start from another branch than the one checked out."""
    if known and known.branch != checkout.branch:
        home = worktree_on(checkout.top, known.branch)
        words = ("cd", str(home)) if home else ("git", "switch", known.branch)
        stop = "stop brat and run " * forge_in_use(checkout.folder)
        if tip_of(checkout.top, f"refs/heads/{known.branch}") is not None:
            stop = f"run `{shlex.join(words)}`, or {stop}"
        yield Lack(
            f"{checkout.top} is on the branch {checkout.branch}, but agents start from "
            f"{known.branch}",
            f"{stop or 'run '}`brat init` to make agents start from {checkout.branch}",
        )


def ignored_files(checkout: Checkout) -> Iterator[Lack]:
    """Yield which files of the person's own, at the top, no other checkout has."""
    args = ["ls-files", "--others", "--ignored", "--exclude-standard", "-z"]
    listed = git.run([*args, "--", ":(glob)*"], cwd=checkout.top).stdout
    names = sorted(filter(_OWN_FILE.fullmatch, os.fsdecode(listed).split("\0")))
    if names:
        yield Lack(
            f"git ignores {path_list(names)} here, so agents and CI do not get a copy",
            "have .brat/setup.sh and the CI command create what they need",
        )


def engine_lacks(
    checkout: Checkout, config: Config, only: str | None = None, *, keys: bool = True
) -> Iterator[Lack]:
    """Yield why engines cannot start in the checkout's files.

    `only` names the one engine to look at, `keys` whether to look for their keys, too.
    """
    have, settings = model_keys(config), config.settings()
    for name, spec in settings.engines.items():
        if only in (None, name):
            where = place_of(name, spec, config)
            yield from _lacks(where, checkout, spec, have if keys else None)
            if settings.box == "on":
                yield from _unseen(
                    f"{where}: agents cannot see",
                    _MOVE,
                    (*spec.args, (word := _shell_word(spec.args)), _real_file(word)),
                )
            yield from _uncommitted(where, checkout.top, spec.args)


def place_of(name: str, spec: EngineSpec, config: Config) -> str:
    """Return the words for where the configuration names an engine."""
    implied = " (the default)" if name not in config.engine else ""
    return f"[engine.{name}] {spec.type}{implied}"


def _lacks(
    where: str, checkout: Checkout, spec: EngineSpec, have: Mapping[str, str] | None
) -> Iterator[Lack]:
    try:
        row = engines.found(spec.type)
        program = program_of(row, spec)
    except ValueError as error:
        said = str(error)
        end = "" if said.endswith((".", "?")) else "."
        yield Lack(f"{where}: {said}{end}", f"change it in {CONFIG}")
        return
    words: tuple[str, ...] = (program,)
    if row.name == "shell" and (inner := _shell_word(spec.args)):
        words = (program, inner)
    for word in words:
        if not is_found(checkout.top, word):
            fault, mend = _unstarted(checkout.top, word)
            how = "install it and put it on the PATH"
            how = f"run `{row.install}`" if row.install else how
            mend = mend or f"{how}, or choose another engine in {CONFIG}"
            yield Lack(f"{where}: the program {word} {fault}", mend)
            return
        yield from _first_line(where, checkout.top, word)
    if have is not None and (row.vendors or spec.secret):
        call = Call(row, spec, endpoint=have.get(MODEL_URL, ""))
        fault = call.with_key(have).missing_key()
        if fault:
            mend = "export it here; on GitHub, store it as a repository secret"
            yield Lack(f"{where}: {fault.rstrip('.')}", mend)


def _unseen(said: str, mend: str, words: Iterable[str]) -> Iterator[Lack]:
    """Yield the files among a command's words that its box does not show."""
    files = [word for word in words if word[:1] == "/" and os.path.isfile(word)]  # noqa: PTH113  a text may be longer than any path
    if not files:
        return
    home = os.path.expanduser("~")  # noqa: PTH111  also where there is none
    path = plain_environment()["PATH"]
    told = model_keys(Config())
    shown, hidden = (
        tuple(map(Path, told[name].split(os.pathsep))) if name in told else ()
        for name in (SHOWN, HIDDEN)
    )
    tools = surroundings.own_tool_variables()
    sight = Sight(path=path, home=home, tools=tools, shown=shown, hidden=hidden)
    for word in dict.fromkeys(files):
        if not shows(sight, word):
            yield Lack(f"{said} {word}", mend)


def _uncommitted(where: str, top: Path, words: Iterable[str]) -> Iterator[Lack]:
    """Yield the files among a command's words that agents will not find."""
    repo = pygit2.Repository(str(top))
    if repo.head_is_unborn:
        return
    committed = repo.head.peel(pygit2.Tree)
    for word in map(os.path.normpath, words):
        if word[:1] != "/" and os.path.isfile(top / word) and word not in committed:  # noqa: PTH113  as above
            said = f"{where}: agents get only committed files, not {word}"
            mend = f"run `git add {shlex.quote(word)}` and commit it"
            if repo.path_is_ignored(word):
                mend = "git ignores it, so put its folder on the PATH and use its name"
            yield Lack(said, mend)


def _first_line(said: str, top: Path, word: str) -> Iterator[Lack]:
    """Yield why a script of the repository cannot start, by its first line."""
    with suppress(OSError), (top / word).open("rb") as script:
        line = script.readline(_LINE_BYTES)
        words = os.fsdecode(line[2:]).split() if line[:2] == b"#!" else []
        if "/" not in word or not (words or word.endswith(".sh")):
            return
        program = next((each for each in words if not _OF_ENV.fullmatch(each)), "sh")
        if line.endswith(b"\r\n"):
            mend = f"run `sed -i 's/\\r$//' {shlex.quote(word)}` and commit it"
            yield Lack(f"{said}: {word} has Windows line endings", mend)
        elif os.access(top / word, os.X_OK) and not is_found(top, program):
            fault = f"{said}: {word} starts with {program}, which was not found"
            yield Lack(fault, "install it, or change the first line")


def _unstarted(top: Path, word: str) -> tuple[str, str]:
    """Return why a word starts no program, and what mends it; empty: install it."""
    fault, named = "was not found", shlex.quote(word)
    if word in _OF_BASH:
        return fault, "it is a bash builtin, so begin the command with `bash -c`"
    if word.startswith("~/"):
        return fault, "write its full path, because no shell expands ~ here"
    if not (top / word).is_file():
        return fault, ""
    mend = f"run `chmod +x {named} && git add {named}` and commit it"
    return "is not executable", mend


def ci_of(checkout: Checkout, config: Config, known: Registration | None) -> Ci:
    """Return the CI settings: as configured, or else as the files suggest.

    What `brat init` found stays while its file is there: what lands chooses no judge.
    """
    command, kept = config.ci.typed, known.ci_command if known else None
    if command is None and (proposal := checkout.propose_ci(kept)):
        command = proposal.command
    return Ci(
        command=command,
        timeout_s=config.ci.timeout,
        slots=config.ci.slots,
        checkout=str(checkout.top),
        egress=config.ci.egress,
        box=config.settings().box,
    )


def ci_lacks(checkout: Checkout, config: Config, ci: Ci) -> Iterator[Lack]:
    """Yield why CI could judge nothing here, where CI is required."""
    if not config.settings().require_ci:
        return
    if ci.command is None:
        said = "no CI command was found, so nothing can land"
        other = "[refinery] require_ci = false to land untested work"
        yield Lack(said, f"set [ci] command in {CONFIG}, or {other}")
        return
    with suppress(ValueError):
        words = shlex.split(ci.command, comments=True)
        mend = f"put its folder on the PATH or {_MOVE}"
        seen = (*words, _real_file(first_word(ci.command)))
        yield from _unseen("the sandbox of the CI command does not contain", mend, seen)
        yield from _uncommitted("the CI command", checkout.top, _started_file(words))
    word, said = first_word(ci.command), f"the CI command is `{ci.command}`, but"
    another = f"or set another [ci] command in {CONFIG}"
    yield from _first_line("the CI command", checkout.top, word)
    if word and not is_found(checkout.top, word):
        fault, mend = _unstarted(checkout.top, word)
        mend = mend or "install it"
        yield Lack(f"{said} the program {word} {fault}", f"{mend}, {another}")
    elif module := _PYTHON_MODULE.match(ci.command):
        python, name = module.groups()
        found = f"u.find_spec({name!r})"  # what lies in a home CI does not know
        asked = f"import importlib.util as u; raise SystemExit(not {found})"
        if _status(checkout.top, python, "-s", "-c", asked) not in (0, None):
            mend = "install it there or in a virtual environment that you activate"
            yield Lack(f"{said} {python} has no module {name}", f"{mend}, {another}")


def awaited_checks(config: Config) -> Iterator[Lack]:
    """Yield which required checks the local CI is not: work waits for them."""
    settings = config.settings()
    others = [each for each in settings.checks if each != LOCAL_CI]
    if others and settings.require_ci:
        said = f"work waits for {', '.join(others)} because of [refinery] checks"
        mend = f"post results to the local forge, which itself reports only {LOCAL_CI}"
        yield Lack(said, f"{mend}, or change [refinery] checks in {CONFIG}")


def uncounted_costs(config: Config) -> Iterator[Lack]:
    """Yield whose costs the budgets cannot limit: nobody says what its tokens cost."""
    settings = config.settings()
    totals, most = settings.budget, settings.limits.usd
    for name, spec in settings.engines.items():
        row = ENGINE_TYPES.get(spec.type)
        if row is None or spec.price is not None:
            continue
        wanted = {} if row.tells_cost else asdict(totals)
        keys = [key for key, usd in (*wanted.items(), ("attempt", most)) if usd]
        if keys:
            where = place_of(name, spec, config)
            said = f"{where}: its cost is unknown to [budget] {', '.join(keys)}"
            key = "price" if row.keys else "timeout"  # `shell` tells no tokens
            yield Lack(said, f"set [engine.{name}] {key} in {CONFIG}")


def _status(top: Path, *command: str) -> int | None:
    """Return how a command ended in the environment of CI; None: it took too long."""
    try:
        done = subprocess.run(
            command,
            cwd=top,
            env=plain_environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_FOUND_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    return done.returncode


def _real_file(word: str) -> str:
    """Return the file that a program's name leads to; empty: it is none."""
    path = plain_environment()["PATH"]
    found = shutil.which(word, path=path) if "/" not in word else None
    return os.path.realpath(found) if found else ""


def _started_file(words: Iterable[str]) -> Iterator[str]:
    """Yield the file that a command starts by its path, or gives an interpreter."""
    rest = (word for word in words if not _SETTING.fullmatch(word))
    first = next(rest, "")
    if "/" in first:
        yield first
    elif _INTERPRETER.fullmatch(first):
        yield next(rest, "")


def _shell_word(args: tuple[str, ...]) -> str:
    """Return the program that `sh -c TEXT` starts first; empty: it cannot be told."""
    match args:
        case ("sh" | "bash", "-c" | "-ec", text, *_):
            return first_word(text)
        case _:
            return ""


def first_word(command: str) -> str:
    """Return the first program of a shell command; empty: it cannot be told."""
    try:
        words = shlex.split(command, comments=True)
    except ValueError:
        return ""
    for word in words:
        if not _SETTING.fullmatch(word):
            return word if _WORD.fullmatch(word) else ""
    return ""


def is_found(top: Path, word: str) -> bool:
    """Whether a shell in this folder would find a program, a builtin or a keyword."""
    if shutil.which(word, path=plain_environment()["PATH"]):
        return True
    if "/" in word:
        return os.access(top / word, os.X_OK) and (top / word).is_file()
    return _status(top, "sh", "-c", 'command -v -- "$1"', "sh", word) == 0
