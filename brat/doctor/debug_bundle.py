"""`brat doctor --bundle FILE`: what somebody else needs to see, without secrets.

Only what is listed here goes in, as text, with secrets hidden: those that this machine
knows by their value, wherever they are kept, and what looks like one. Names of people
and the texts of issues stay: who helps has to know what was asked for.
"""

import io
import os
import platform
import re
import tarfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Final

import msgspec
import pygit2

from bot import VERSION, wall_clock
from bot.serving.examination import Finding
from brat.repository import checkout as checkouts, registration as registrations
from brat.repository.checkout import Checkout
from brat.repository.log_reader import Reader
from brat.repository.registration import CONFIG
from convoy.text.redaction import HIDDEN, Redaction
from convoy.views import state_document
from grite import git
from grite.errors import BratError
from grite.wal import WAL_REF

_NAMED: Final = re.compile(
    r"token|secret|key|pass|pwd|credential|auth(?!or)|(?:^|_)pat$", re.IGNORECASE
)
_KEYS: Final = (".key", ".pem")
_FILES: Final = frozenset({"log_key", "registration.json", "bot.json", "settings.json"})
_MOST: Final = 1_000_000
"""So many characters of a file are read: no key is longer."""


def known_secrets(folder: Path | None) -> Iterator[str]:
    """Yield the values of the environment and of brat's folder that are secret."""
    held = os.environ.items()  # noqa: TID251  to hide its secrets, whatever they are
    yield from (value for name, value in held if _NAMED.search(name))
    for place, _, names in os.walk(folder) if folder is not None else ():
        for name in names:
            if name in _FILES or name.endswith(_KEYS):
                yield from _in_file(Path(place) / name)


def _in_file(file: Path) -> Iterator[str]:
    try:
        with file.open(encoding="utf-8", errors="replace") as opened:
            text = opened.read(_MOST)
    except OSError:
        return  # who may not read it has not written it into what is shown
    if file.suffix != ".json":
        yield text.strip()
        yield from text.split()
        return
    try:
        yield from _told(msgspec.json.decode(text))
    except (msgspec.MsgspecError, RecursionError):
        return


def _told(value: object, name: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _told(inner, str(key))
    elif isinstance(value, list):
        for inner in value:
            yield from _told(inner, name)
    elif isinstance(value, str) and _NAMED.search(name):
        yield value


TAIL_BYTES: Final = 200_000
"""So much of the end of each log file."""
COMMITS: Final = 300
"""So many of the newest commits of the log are listed."""
_DEADLINE_S: Final = 60.0
_FORGE_TOKEN: Final = re.compile(r"brat_\d+_[\w-]{20,}")
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^\s/@]{1,300}(?=@)")
_LONGEST: Final = 16_384
"""No secret is longer: more than the end of a log is read, so that none is cut."""
_HOME: Final = "~"
_LOGS: Final = "logs/"


def write_bundle(path: Path, file: Path, found: Iterable[Finding]) -> None:
    """Write the bundle to `file`, which only its owner can read."""
    try:
        checkout: Checkout | None = checkouts.find(path)
    except BratError:
        checkout = None
    hide = Redaction(known_secrets(checkout.folder if checkout else None))
    findings = (f"{one.grade}: {one.said} -> {one.mend}\n" for one in found)
    rows = {
        "brat": VERSION,
        "python": platform.python_version(),
        "git": ".".join(map(str, git.version())),
        "system": platform.platform(),
        "cores": str(os.cpu_count()),
    }
    about = "".join(f"{name}: {value}\n" for name, value in rows.items())
    parts = {"about.txt": about, "findings.txt": "".join(findings)}
    if checkout is not None:
        parts |= dict(_parts(checkout))
    shown_parts = {name: shown(text, hide) for name, text in parts.items()}
    try:
        with NamedTemporaryFile(dir=file.parent, prefix=".brat-") as raw:
            with tarfile.open(fileobj=raw, mode="w:gz") as bundle:
                for name, text in shown_parts.items():
                    cut = name.startswith(_LOGS) and len(text) > TAIL_BYTES
                    end = text[-TAIL_BYTES:].partition("\n")[2] if cut else text
                    data = end.encode(errors="replace")
                    info = tarfile.TarInfo(f"brat-bundle/{name}")
                    info.size = len(data)
                    bundle.addfile(info, io.BytesIO(data))
            raw.flush()
            file.unlink(missing_ok=True)
            os.link(raw.name, file)
    except OSError as error:
        raise BratError(f"{file} cannot be written: {error.strerror}") from error


def shown(text: str, hide: Redaction) -> str:
    """Return a text as it may leave this machine."""
    hidden = hide(_IN_ADDRESS.sub(HIDDEN, _FORGE_TOKEN.sub(HIDDEN, text)))
    return hidden.replace(str(Path.home()), _HOME)


def _parts(checkout: Checkout) -> Iterator[tuple[str, str]]:
    yield "config.toml", _text(checkout.top / CONFIG)
    yield "sizes.txt", "".join(_sizes(checkout.folder))
    for file in sorted(checkout.folder.rglob("*.log")):
        place = file.relative_to(checkout.folder).as_posix().replace("/", "-")
        yield f"{_LOGS}{place}", _text(file)
    try:
        known = registrations.read(checkout.folder)
        bare = registrations.bare_path(checkout.folder, known)
        yield "refs.txt", _git(bare, "for-each-ref")
        if WAL_REF in pygit2.Repository(str(bare)).references:
            newest = ("log", f"-{COMMITS}", "--format=%H %cI %s", WAL_REF)
            yield "log-commits.txt", _git(bare, *newest)
        reader = Reader(bare)
        told = state_document(reader.read(), wall_clock(), reader.faults)
        status = msgspec.json.format(msgspec.json.encode(told), indent=1)
        yield "status.json", status.decode()
    except BratError as error:
        yield "unread.txt", f"{error}\n"


def _git(bare: Path, *words: str) -> str:
    done = git.run([*words], cwd=bare, deadline_s=_DEADLINE_S)
    return done.stdout.decode(errors="replace")


def _text(file: Path) -> str:
    """Return the end of a file, and a little more; why, if it cannot be read."""
    try:
        with file.open("rb") as opened:
            start = max(0, file.stat().st_size - TAIL_BYTES - _LONGEST)
            opened.seek(start)
            return opened.read().decode(errors="replace")
    except OSError as error:
        return f"it cannot be read: {error.strerror}\n"


def _sizes(folder: Path) -> Iterator[str]:
    """Yield the bytes and the files of each place in brat's folder."""
    for place in sorted(folder.iterdir()) if folder.is_dir() else ():
        files = [place, *place.rglob("*")] if place.is_dir() else [place]
        sizes = [one.lstat().st_size for one in files if not one.is_dir()]
        yield f"{sum(sizes):>12} {len(sizes):>7} {place.name}\n"
