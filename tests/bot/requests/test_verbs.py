"""What commands ask for, what is wrong with them, and what the help says."""
# ruff: noqa: E501  snapshots are as people read them

from pathlib import Path

import msgspec
from inline_snapshot import snapshot

from bot.requests.verb import Place, Request
from bot.requests.verb_table import BY_NAME, REQUEST_CHARS, VERBS, help_text, parsed
from bot.text.replies import malformed
from bot.text.slash_commands import MalformedCommand, SlashCommand, slash_commands
from tests.world.cases import looped

DOCS = Path(__file__).parents[3] / "docs"
ALONE = (
    "help status plan start approve follow land fix "
    "merge unqueue rebase cost retry cancel pause resume ping"
)
ASKED: dict[str, Request] = {
    **{verb: Request(verb) for verb in ALONE.split()},
    "help Lock": Request("help", {"verb": "lock"}),
    "help approve": Request("help", {"verb": "approve"}),
    "allow 3": Request("allow", {"task": 3}),
    "allow 3 .github/ci.yml": Request("allow", {"task": 3, "path": ".github/ci.yml"}),
    "start Plan-Only": Request("start", {"plan_only": True}),
    "start -- mind the docs": Request("start", text="mind the docs"),
    "start pattern=spec topic=docs": Request(
        "start", {"pattern": "spec", "inputs": {"topic": "docs"}}
    ),
    "approve ABCDEF0": Request("approve", {"commit": "abcdef0"}),
    "revise -- shorter": Request("revise", text="shorter"),
    "tell task-3 -- keep the names": Request("tell", {"task": 3}, "keep the names"),
    "add -- Test the parser (after 1)": Request(
        "add", text="Test the parser (after 1)"
    ),
    "depends task-2 on task-1": Request("depends", {"task": 2, "on": True, "other": 1}),
    "engine docs": Request("engine", {"engine": "docs"}),
    "engine docs 3": Request("engine", {"engine": "docs", "task": 3}),
    "priority P0": Request("priority", {"priority": 0}),
    "land ABCDEF0": Request("land", {"commit": "abcdef0"}),
    "fix -- mend the tests": Request("fix", text="mend the tests"),
    "split 3 -- a list": Request("split", {"task": 3}, "a list"),
    "logs 3": Request("logs", {"task": 3}),
    "retry Task-3": Request("retry", {"task": 3}),
    "cancel 12": Request("cancel", {"task": 12}),
    "pause ALL": Request("pause", {"all": True}),
    "resume all": Request("resume", {"all": True}),
    "drop task-3": Request("drop", {"task": 3}),
    "lock path:src/": Request("lock", {"resource": "path:src/"}),
    "lock port:80 ttl=1h30m": Request("lock", {"resource": "port:80", "ttl": 5400}),
    "lock repo:global ttl=24h": Request(
        "lock", {"resource": "repo:global", "ttl": 86_400}
    ),
    "renew port:80 ttl=2h": Request("renew", {"resource": "port:80", "ttl": 7200}),
    "unlock service:mail": Request("unlock", {"resource": "service:mail"}),
    "why 3": Request("why", {"task": 3}),
}


def asked(words: str, on: Place = "both") -> Request | MalformedCommand:
    (found,) = slash_commands(f"/brat {words}")
    assert isinstance(found, SlashCommand)
    return parsed(found, on)


def refused(words: str, on: Place = "both") -> str:
    found = asked(words, on)
    assert isinstance(found, MalformedCommand)
    return found.why


@looped(*ASKED)
def test_a_command_asks_for_what_it_says_can_be_kept_and_said_again(words: str) -> None:
    request = ASKED[words]
    line = BY_NAME[request.verb].line(request)

    assert asked(words) == request
    assert request.verb == words.partition(" ")[0]
    assert msgspec.json.decode(msgspec.json.encode(request), type=Request) == request
    assert asked(line.removeprefix("/brat ")) == request


def test_every_verb_is_asked_for() -> None:
    assert {request.verb for request in ASKED.values()} == {*BY_NAME}


def test_the_text_of_a_command_is_clean_and_has_an_end() -> None:
    found = asked("start -- say <!-- evil --> hi\u200b")
    assert found == Request("start", text="say  hi")
    assert asked("pause -- <!-- evil -->") == Request("pause")

    long = asked(f"start -- {'a ' * REQUEST_CHARS}")
    assert isinstance(long, Request)
    assert len(long.text) <= REQUEST_CHARS
    ended = [malformed(why).text for why in ("write a text", "did you mean it?")]
    assert ended == ["Write a text.", "Did you mean it?"]


WRONG = {
    "rety 3": "there is no command `rety`; did you mean retry?",
    "@ann": "there is no command `@ann`; `/brat help` lists all commands",
    "approve HEAD": "`HEAD` is not a commit; write at least the first 7 characters of its ID",
    "engine ../x": "`../x` is not an engine name: use at most 40 letters, digits, - and _",
    "drop task-1000000000": "`task-1000000000` is not a task such as `task-3` or `3`",
    "drop ٣": "`٣` is not a task such as `task-3` or `3`",
    "depends 2 of 1": "`of` is not `on`",
    "revise": "this command needs text after `--`; write `/brat revise -- text`",
    "priority 1": "`1` is not a priority: write `p0`, `p1` or `p2`",
    "drop": "`<task>` is missing; write `/brat drop <task>`",
    "drop #3": "`#3` is an issue number; write a task as `task-3` or `3`",
    "drop task-0": "`task-0` is not a task such as `task-3` or `3`",
    "drop 3 4": "unexpected argument `4`; write `/brat drop <task>`",
    "pause everything": "`everything` is not `all`",
    "pause ttl=1h": "there is no option `ttl`; write `/brat pause [all]`",
    "pause -- lunch": "this command takes no text after `--`; write `/brat pause [all]`",
    "help statu": "`statu` is not a command; did you mean status?",
    "lock src/": (
        "`src/` is not a resource such as `path:src/`, `port:5432`, "
        "`service:mail`, `issue:7` or `repo:global`"
    ),
    "lock repo:bot": "`repo:bot` is reserved for the bot",
    f"lock path:{'a' * 400}": "`path:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is longer than 400 characters",
    "lock path:a tll=1h": "there is no option `tll`; did you mean ttl?",
    "lock path:a ttl=": "an empty value is not a duration from 1s to 24h, such as `30m` or `1h30m`",
    "lock path:a ttl=25h": "`25h` is not a duration from 1s to 24h, such as `30m` or `1h30m`",
    "lock path:a ttl=0s": "`0s` is not a duration from 1s to 24h, such as `30m` or `1h30m`",
    "lock `@ann`": (
        "`'@ann'` is not a resource such as `path:src/`, `port:5432`, "
        "`service:mail`, `issue:7` or `repo:global`"
    ),
    "allow 3 ../x": "`../x` is not a path inside the repository",
}


@looped(*WRONG.items())
def test_what_is_wrong_is_said_in_one_sentence(words: str, why: str) -> None:
    assert refused(words) == why


def test_a_verb_may_have_its_place_and_a_text_in_the_lines_below_it() -> None:
    assert asked("start", "issue") == Request("start")
    assert refused("start", "pull") == snapshot("use `start` on an issue")
    assert asked("retry", "pull") == Request("retry")

    below = "Keep the names.\n\nThe docs, too."
    told = parsed(SlashCommand("tell", ("1",), below=below))
    assert told == Request("tell", {"task": 1}, below)
    again = parsed(SlashCommand("drop", ("1",), below=below))
    assert again == Request("drop", {"task": 1})


def test_the_help_shows_what_the_page_shows_and_looking_is_for_everybody() -> None:
    looking = [verb.name for verb in VERBS if verb.right == "read"]
    assert looking == ["help", "status", "plan", "why", "ping"]

    head, _, rows = help_text().partition("\n\n")

    assert "up to 10 commands" in head
    assert rows in (DOCS / "commands.md").read_text("utf-8")
    assert all(f"| `/brat {name}" in rows for name in BY_NAME)
