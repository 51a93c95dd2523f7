"""One session, running or ended: what the log says of it, and what it printed.

`brat session tail` shows its output, here or from a bot elsewhere; `brat session show`
all else. On this machine the output comes live from the feed, and
whole from its job's log. The runner has redacted it; control codes are removed here.
"""

import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import msgspec

from bot.door.feed import pieces_in, tape_file
from brat.forge.service.programs import Place
from brat.repository import log_reader
from brat.repository.checkout import served_here
from brat.repository.log_reader import Reader, log_repository
from brat.repository.registration import BOT_FOLDER, FORGE_FOLDER
from brat.repository.remote_forge import origin_of
from brat.status.bot_api import BotApi, named_bot
from brat.status.find_task import live_or_named, session_names, task_in
from brat.status.status_screen import kept_lines, print_document
from brat.terminal.console import write
from convoy import views
from convoy.events.forge_actions import ActionDone
from convoy.model import ids
from convoy.model.session_result import usage_in_words
from convoy.model.state import Convoy, Task
from convoy.text import clean, clock, did_you_mean, spoken_duration as length
from convoy.views.history import PastSession, bot_facts, past_sessions
from grite.errors import BratError

LOOK_S: Final = 0.3
PATIENCE_S: Final = 3.0
"""How long a session's first output may take to reach the feed."""
LAST_BYTES: Final = 64 * 1024
"""How many bytes of the output's end people see at first."""
Running = Callable[[], bool]
"""Whether the session still runs."""
_COMMAND: Final = re.compile(r"^::[^\n]*\n?", re.MULTILINE)
"""Workflow commands, such as the marks around an agent's words."""


@dataclass(frozen=True)
class Printed:
    """The files of one session's output; either may be missing."""

    tape: Path
    """The output that the session sent while it ran."""
    log: Path
    """The job's log: complete once the job has ended."""

    def last(
        self, *, running: bool, colours: bool = False, most: int = LAST_BYTES
    ) -> str:
        """Return the end of the output so far; empty: there is none."""
        if self._is_live(running=running):
            return shown(
                "".join(each.text for each in pieces_in(_end_of(self.tape, most))),
                colours=colours,
            )
        return shown(_end_of(self.log, most).decode(errors="replace"), colours=colours)

    def follow(self, running: Running) -> Iterator[str]:
        """Yield the output from its beginning until the session has ended."""
        until = time.monotonic() + PATIENCE_S
        while running() and not self.tape.exists() and time.monotonic() < until:
            time.sleep(LOOK_S)
        is_live = self._is_live(running=running())
        place, ended = 0, False
        while not ended:
            ended = not running()
            news = self._taped(place) if is_live else self._logged(place, whole=ended)
            for after, text in news:
                place = after
                yield shown(text)
            time.sleep(0 if ended else LOOK_S)

    def _taped(self, place: int) -> Iterator[tuple[int, str]]:
        """Yield the pieces from a number on: a shorter file may replace this one."""
        for piece in pieces_in(self.tape.read_bytes()):
            if piece.number >= place:
                yield piece.number + 1, piece.text

    def _logged(self, place: int, *, whole: bool) -> Iterator[tuple[int, str]]:
        """Yield what stands behind a place, unless `whole` only its complete lines."""
        if self.log.exists():
            with self.log.open("rb") as source:
                source.seek(place)
                chunk = source.read()
            if text := chunk if whole else chunk[: chunk.rfind(b"\n") + 1]:
                yield place + len(text), text.decode(errors="replace")

    def _is_live(self, *, running: bool) -> bool:
        return self.tape.exists() and (running or not self.log.exists())


def output_of(folder: Path, convoy: Convoy, task: Task) -> Printed:
    name = ids.session_name(convoy.name, task.number, task.started)
    return output_of_session(folder, name, task.newest_run or 0)


def output_of_session(folder: Path, session: str, run: int) -> Printed:
    place = Place(folder / FORGE_FOLDER / "runs" / str(run))
    return Printed(tape=tape_file(folder / BOT_FOLDER, session), log=place.log)


def shown(text: str, *, colours: bool = False) -> str:
    """Return output as people may see it. Pure."""
    return clean(_COMMAND.sub("", text), colours=colours)


def _end_of(file: Path, most: int) -> bytes:
    """Return the last bytes of a file, starting at the beginning of a line."""
    try:
        with file.open("rb") as source:
            start = max(0, file.stat().st_size - most)
            source.seek(start)
            data = source.read()
    except FileNotFoundError:
        return b""
    return data.partition(b"\n")[2] if start else data


def tail_session(
    repo: Path, number: int, convoy: str | None, bot: str | None, *, following: bool
) -> None:
    """Print the output of a task's newest session, with `following` until its end.

    Without a bot to ask, the session ran on this machine's forge.
    """
    if (address := named_bot(bot, repo)) is not None:
        far = BotApi.of(address, repo)
        name = far.meant(convoy)
        _show(far.follow(name, number) if following else (far.last(name, number),))
        return
    log = log_repository(repo)
    reader = Reader(log)
    found = live_or_named(reader.read(), convoy)
    task = task_in(found, number)
    if (run := task.newest_run) is None:
        raise BratError(f"task {number} has had no session yet")
    if (here := served_here(repo)) is None:
        raise BratError(
            f"the session of task {number} ran on the forge; see its output at "
            f"{origin_of(log).web}/actions/runs/{run}, or use --bot if your bot has a "
            "dashboard"
        )
    printed = output_of(here.folder, found, task)

    def running() -> bool:
        now = reader.read().convoys[found.name].task(number)
        return now is not None and now.attempt is not None and now.attempt.run == run

    if following:
        _show(printed.follow(running))
    else:
        _show((printed.last(running=running()),))


def _show(texts: Iterable[str]) -> None:
    for text in texts:
        write(text.rstrip("\n"))


LAST_LINES: Final = 20
"""Of its output people see so many lines."""


def show_session(repo: Path, name: str, *, as_json: bool) -> None:
    """Print one session: what it is doing, or how it ended and what it printed last."""
    log = log_repository(repo)
    state = Reader(log).read()
    running = {str(row["name"]): row for row in views.sessions(state)}
    if name in running:
        _tell(running[name], _running(running[name]), as_json=as_json)
        return
    try:
        convoy, *place = ids.parse_session(name)
    except ValueError:
        convoy, place = "", []
    known = tuple(bot_facts(log_reader.log_entries(log), state.bots))
    for one in past_sessions(convoy, known) if convoy else ():
        if [one.task, one.attempt] == place:
            key = ids.key("dispatch", name)
            done = (fact for _, fact in known if isinstance(fact, ActionDone))
            run = next((fact.number for fact in done if fact.key == key), 0)
            output, page = _output(repo, log, name, run)
            told = msgspec.to_builtins(one)
            times = {f"{at}_ms": told.pop(at) for at in ("begun", "ended", "landed")}
            own = {"name": name, "convoy": convoy, "run": run or None}
            whole = own | told | times | {"output": output, "page": page}
            _tell(whole, _ended(name, one, output, page), as_json=as_json)
            return
    near = did_you_mean(name, session_names(state)) or "; see `brat session list --all`"
    raise BratError(f"there is no session {name}{near}")


def _output(path: Path, log: Path, name: str, run: int) -> tuple[str, str]:
    """Return the end of what a session printed, or the forge's page of its run."""
    if here := served_here(path):
        return output_of_session(here.folder, name, run).last(running=False), ""
    with suppress(BratError):  # it has no origin
        return "", f"{origin_of(log).web}/actions/runs/{run}" if run else ""
    return "", ""


def _ended(
    name: str, one: PastSession, output: str, page: str
) -> Iterator[tuple[str, str]]:
    """Yield what people are told: a word, and what it is."""
    yield "name", name
    yield "engine", one.engine
    yield "began", clock(one.begun)
    yield "took", length(round(one.took_s)) if one.ended else ""
    yield "outcome", one.how + (f" at {clock(one.landed)}" if one.landed else "")
    yield "why", one.why
    yield "judged by", ", ".join(one.judged)
    yield "used", usage_in_words(one.usage)
    if output:
        shown = output.rstrip("\n").split("\n")[-LAST_LINES:]
        yield "output", "\n".join(("last lines:", *shown))
    elif page:
        yield "output", page


def _tell(
    whole: dict[str, Any], lines: Iterator[tuple[str, str]], *, as_json: bool
) -> None:
    if as_json:
        print_document({"session": whole})
        return
    for label, said in lines:
        if said:
            write(f"{label:14} {kept_lines(said)}")


def _running(row: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for key, value in row.items():
        since = clock(value) if key == "since_ms" and value else value
        yield key.removesuffix("_ms"), "" if since is None else str(since)
