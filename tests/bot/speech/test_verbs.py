"""What commands ask for, what is wrong with them, and what the help says."""
# ruff: noqa: E501  snapshots are as people read them

from pathlib import Path
from typing import get_args

import msgspec
import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from bot.speech import arguments
from bot.speech.grammar import LINE_CHARS, Misheard, Said, heard
from bot.speech.registry import BY_NAME, VERBS, Place, Verb
from bot.speech.requests import (
    Add,
    Approve,
    Cancel,
    Cost,
    Depends,
    Drop,
    Engine,
    Help,
    Lock,
    Logs,
    Merge,
    Pause,
    PauseAll,
    Ping,
    Priority,
    Rebase,
    Request,
    Resume,
    ResumeAll,
    Retry,
    Revise,
    Start,
    Status,
    Tell,
    Unlock,
    Unqueue,
    Why,
)
from bot.speech.verbs import (
    BEGIN,
    END,
    TEXT_CHARS,
    checked,
    help_text,
    main,
    table,
    verb_of,
    with_table,
)
from convoy.text.plaintext import cut

DOCS = Path(__file__).parents[3] / "docs"
ASKED: dict[str, Request] = {
    "help": Help(),
    "help Lock": Help("lock"),
    "help approve": Help("approve"),
    "status": Status(),
    "start": Start(),
    "start -- mind the docs": Start("mind the docs"),
    "approve": Approve(),
    "approve ABCDEF0": Approve("abcdef0"),
    "revise -- shorter": Revise("shorter"),
    "tell task-3 -- keep the names": Tell(3, "keep the names"),
    "add -- Test the parser (after 1)": Add("Test the parser (after 1)"),
    "depends task-2 on task-1": Depends(2, 1),
    "engine docs": Engine("docs"),
    "engine docs 3": Engine("docs", 3),
    "priority P0": Priority(0),
    "merge": Merge(),
    "unqueue": Unqueue(),
    "rebase": Rebase(),
    "logs 3": Logs(3),
    "cost": Cost(),
    "retry": Retry(),
    "retry Task-3": Retry(3),
    "cancel": Cancel(),
    "cancel 12": Cancel(12),
    "pause": Pause(),
    "pause ALL": PauseAll(),
    "resume": Resume(),
    "resume all": ResumeAll(),
    "drop task-3": Drop(3),
    "lock path:src/": Lock("path:src/", 3600),
    "lock port:80 ttl=1h30m": Lock("port:80", 5400),
    "lock repo:global ttl=24h": Lock("repo:global", 86_400),
    "unlock service:mail": Unlock("service:mail"),
    "why 3": Why(3),
    "ping": Ping(),
}


def asked(words: str, on: Place = "both") -> Request | Misheard:
    (found,) = heard(f"/brat {words}")
    assert isinstance(found, Said)
    return checked(found, on)


def refused(words: str, on: Place = "both") -> str:
    found = asked(words, on)
    assert isinstance(found, Misheard)
    assert found.line == cut(f"/brat {words}", LINE_CHARS)
    return found.why


# --- what they ask for ----------------------------------------------------------------


@pytest.mark.parametrize("words", ASKED)
def test_a_command_in_good_form_asks_for_what_it_says(words: str) -> None:
    assert asked(words) == ASKED[words]


@pytest.mark.parametrize("words", ASKED)
def test_a_request_can_be_kept_and_names_its_verb(words: str) -> None:
    kept = msgspec.json.encode(ASKED[words])

    assert msgspec.json.decode(kept, type=Request) == ASKED[words]
    assert verb_of(ASKED[words]).name == words.partition(" ")[0]


def test_every_request_is_asked_for_by_a_verb_and_every_verb_asks() -> None:
    assert {type(request) for request in ASKED.values()} == {*get_args(Request)}
    assert {verb_of(request).name for request in ASKED.values()} == {*BY_NAME}


def test_the_text_of_a_command_is_clean_and_has_an_end() -> None:
    found = asked("start -- say <!-- evil --> hi\u200b")
    assert found == Start("say  hi")

    long = asked(f"start -- {'a ' * TEXT_CHARS}")
    assert isinstance(long, Start)
    assert len(long.text) <= TEXT_CHARS


def test_a_text_of_which_nothing_is_seen_is_no_text() -> None:
    assert asked("pause -- <!-- evil -->") == Pause()


# --- what is wrong with them ----------------------------------------------------------


def test_what_is_wrong_is_said_in_one_sentence() -> None:
    said = (
        "rety 3",
        "@ann",
        "approve HEAD",
        "depends 2 of 1",
        "revise",
        "priority 1",
        "drop",
        "drop #3",
        "drop task-0",
        "drop 3 4",
        "pause everything",
        "pause ttl=1h",
        "pause -- lunch",
        "why",
        "help statu",
        "lock src/",
        "lock repo:bot",
        f"lock path:{'a' * 400}",
        "lock path:a tll=1h",
        "lock path:a ttl=",
        "lock path:a ttl=25h",
        "lock path:a ttl=0s",
        "lock `@ann`",
    )

    assert {words[:20]: refused(words) for words in said} == snapshot(
        {
            "rety 3": "there is no verb `rety`; did you mean retry?",
            "@ann": "there is no verb `@ann`; `/brat help` shows them all",
            "approve HEAD": "`HEAD` is no commit: write at least the first 7 digits of its id",
            "depends 2 of 1": "`of` is not `on`",
            "revise": "it takes a text after `--`; write `/brat revise -- text`",
            "priority 1": "`1` is no priority: write `p0`, `p1` or `p2`",
            "drop": "`<task>` is missing; write `/brat drop <task>`",
            "drop #3": "`#3` is an issue's number; write a task as `task-3` or `3`",
            "drop task-0": "`task-0` is no task, such as `task-3` or `3`",
            "drop 3 4": "`4` is more than it takes; write `/brat drop <task>`",
            "pause everything": "`everything` is not `all`",
            "pause ttl=1h": "there is no option `ttl`; write `/brat pause [all]`",
            "pause -- lunch": "it takes no text after `--`; write `/brat pause [all]`",
            "why": "`<task>` is missing; write `/brat why <task>`",
            "help statu": "`statu` is no verb; did you mean status?",
            "lock src/": "`src/` is no resource, such as `path:src/`, `port:5432`, `service:mail`, `issue:7` or `repo:global`",
            "lock repo:bot": "`repo:bot` is the bot's own",
            "lock path:aaaaaaaaaa": "`path:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…` is longer than 400 characters",
            "lock path:a tll=1h": "there is no option `tll`; did you mean ttl?",
            "lock path:a ttl=": "nothing is no length of time from 1s to 24h, such as `30m` or `1h30m`",
            "lock path:a ttl=25h": "`25h` is no length of time from 1s to 24h, such as `30m` or `1h30m`",
            "lock path:a ttl=0s": "`0s` is no length of time from 1s to 24h, such as `30m` or `1h30m`",
            "lock `@ann`": "`'@ann'` is no resource, such as `path:src/`, `port:5432`, `service:mail`, `issue:7` or `repo:global`",
        }
    )


def test_a_verb_may_have_its_place() -> None:
    assert asked("start", "issue") == Start()
    assert refused("start", "pull") == snapshot("say `start` on an issue")
    assert asked("retry", "pull") == Retry()


@pytest.mark.parametrize(
    ("read", "word", "value"),
    [
        (arguments.sha, "ABCDEF0", "abcdef0"),
        (arguments.sha, "a" * 64, "a" * 64),
        (arguments.engine, "tests_2", "tests_2"),
        (arguments.priority, "P0", 0),
        (arguments.priority, "p2", 2),
        (arguments.fixed("on"), "On", True),
    ],
)
def test_each_kind_of_word_is_read(
    read: arguments.Reader, word: str, value: object
) -> None:
    assert read(word) == value


@pytest.mark.parametrize(
    ("read", "word"),
    [
        (arguments.sha, "abcdef"),
        (arguments.sha, "HEAD~1234"),
        (arguments.engine, ""),
        (arguments.engine, "a" * 41),
        (arguments.engine, "../x"),
        (arguments.priority, "p3"),
        (arguments.priority, "1"),
        (arguments.fixed("on"), "of"),
        (arguments.task, "task-1000000000"),
        (arguments.task, "\u0663"),
    ],
)
def test_each_kind_of_word_has_a_form(read: arguments.Reader, word: str) -> None:
    with pytest.raises(ValueError, match=r"^is "):
        read(word)


@given(
    st.sampled_from([*BY_NAME, "x"]),
    st.lists(st.text(max_size=8) | st.sampled_from(["3", "all", "path:a"]), max_size=3),
    st.dictionaries(st.sampled_from(["ttl", "x"]), st.text(max_size=5), max_size=2),
    st.text(max_size=20),
)
@settings(deadline=None)
def test_whatever_is_said_is_a_request_or_one_sentence(
    verb: str, words: list[str], options: dict[str, str], text: str
) -> None:
    found = checked(Said(verb, tuple(words), options, text))

    if isinstance(found, Misheard):
        assert found.line == f"/brat {verb}"
        assert "\n" not in found.why
        found.why.encode()
    else:
        assert verb_of(found).name == verb


# --- the registry ---------------------------------------------------------------------


def test_every_verb_that_was_promised_is_there() -> None:
    promised = (
        "help status start approve retry revise tell cancel pause resume drop add "
        "depends engine priority merge unqueue rebase lock unlock why logs cost ping"
    )
    assert " ".join(verb.name for verb in VERBS) == promised


@pytest.mark.parametrize("verb", VERBS, ids=lambda verb: verb.name)
def test_a_row_is_one_that_can_be_read(verb: Verb) -> None:
    needed = [word.needed for word in verb.words]

    assert needed == sorted(needed, reverse=True)
    assert not any(option.needed for option in verb.options)
    assert verb.help.endswith(".")
    assert verb.help[0].isupper()
    assert "|" not in verb.help + verb.usage.replace("<p0|p1|p2>", "")


def test_only_looking_is_for_everybody() -> None:
    looking = [verb.name for verb in VERBS if verb.right == "read"]

    assert looking == ["help", "status", "why", "ping"]


# --- the help -------------------------------------------------------------------------


def test_the_help_shows_every_verb() -> None:
    assert help_text() == snapshot("""\
A command is a line of its own, outside of lists, quotes and code; a comment may have 10.

| say | on | who | what happens |
| --- | --- | --- | --- |
| `/brat help [<verb>]` | both | everybody | Shows what can be said, or how one verb is used. |
| `/brat status` | both | everybody | Shows where the convoy and its tasks stand. |
| `/brat start [pattern=NAME] [input=value ...] [-- text]` | issues | who may write | Makes a convoy of the issue, as the label does; text is added to it. With `pattern` it is planned by that template, which the inputs fill. |
| `/brat approve [<commit>]` | both | who may write | Lets a plan that waits be carried out; on a pull request, approves the work at exactly this commit. |
| `/brat retry [<task>]` | both | who may write | Tries a blocked task again with all its attempts; without a task, everything that is blocked here. |
| `/brat revise -- text` | pull requests | who may write | Sends the task back, to go on from its work and do as the text says; a review that asks for changes does the same. |
| `/brat tell <task> -- text` | both | who may write | Tells the task's next attempt what the text says. |
| `/brat cancel [<task>]` | both | who may write | Stops what runs for a task, which then waits for a person; without a task, ends the whole convoy. |
| `/brat pause [all]` | both | who may write | Starts nothing new in the convoy until it is resumed; with `all`, in the whole repository. |
| `/brat resume [all]` | both | who may write | Lets a paused convoy go on; with `all`, the whole repository. |
| `/brat drop <task>` | both | who may write | Gives a task up for good; what waits for it then waits for a person. |
| `/brat add -- text` | both | who may write | Adds a task that does what the text says, written as in a task list. |
| `/brat depends <task> on <task>` | both | who may write | Lets a task wait until another is merged. |
| `/brat engine <engine> [<task>]` | both | who may write | Gives a task, or all that have not started, to another engine. |
| `/brat priority <p0\\|p1\\|p2>` | issues | who may maintain | Puts the convoy before or behind others; `p0` is first, `p1` usual. |
| `/brat merge` | pull requests | who may maintain | Puts the pull request back into the merge queue. |
| `/brat unqueue` | pull requests | who may maintain | Takes the pull request out of the merge queue, until `merge`. |
| `/brat rebase` | pull requests | who may write | Puts the task's work on top of what has landed since. |
| `/brat lock <resource> [ttl=1h]` | both | who may write | Keeps a resource for you, one hour or as long as `ttl` says, at most `24h`: no task that needs it starts. |
| `/brat unlock <resource>` | both | who may write | Gives back a resource that you hold. |
| `/brat why <task>` | both | everybody | Says what a task waits for, and why it is where it is. |
| `/brat logs <task>` | both | who may write | Links what a task's sessions printed. |
| `/brat cost` | both | who may write | Says what the convoy has cost, as far as that is known. |
| `/brat ping` | both | everybody | Answers with the bot's version, when it is there. |
""")


def test_the_help_of_one_verb() -> None:
    assert [help_text("lock"), help_text("merge"), help_text("stats")] == snapshot(
        [
            """\
`/brat lock <resource> [ttl=1h]`

Keeps a resource for you, one hour or as long as `ttl` says, at most `24h`: no task that needs it starts.

On: both. Who: who may write.\
""",
            """\
`/brat merge`

Puts the pull request back into the merge queue.

On: pull requests. Who: who may maintain.\
""",
            "There is no verb `stats`; did you mean status?",
        ]
    )


@pytest.fixture
def page() -> str:
    return (DOCS / "commands.md").read_text("utf-8")


def test_the_page_is_up_to_date(page: str) -> None:
    assert page == with_table(page), "run python -m bot.speech.verbs docs"


def test_the_commands_on_the_page_are_understood(page: str) -> None:
    blocks = page.split("```")[1::2]
    examples = [found for block in blocks for found in heard(dedented(block))]
    examples += heard('/brat lock "path:my folder/"\n/brat help lock')

    assert len(examples) == 4
    for example in examples:
        assert isinstance(example, Said)
        assert not isinstance(checked(example), Misheard)


def dedented(block: str) -> str:
    return "\n".join(line.removeprefix("  ") for line in block.splitlines())


def test_the_command_writes_the_page(tmp_path: Path, page: str) -> None:
    stale = tmp_path / "commands.md"
    stale.write_text(page.replace(table(), "old\n"), "utf-8")

    assert main([str(tmp_path)]) == 0

    assert stale.read_text("utf-8") == page


def test_a_page_without_the_marks_is_not_written_over(tmp_path: Path) -> None:
    (tmp_path / "commands.md").write_text(f"mine\n{END}", "utf-8")

    with pytest.raises(ValueError, match="the page has no <!-- verbs"):
        main([str(tmp_path)])

    assert (tmp_path / "commands.md").read_text("utf-8") == f"mine\n{END}"
    assert BEGIN.endswith("\n")


STORIES = [file.read_text() for file in Path(__file__).parents[1].rglob("test_*.py")]


@pytest.mark.parametrize("name", BY_NAME)
def test_each_verb_has_a_story_on_the_local_forge(name: str) -> None:
    assert any(f"/brat {name}" in story for story in STORIES)
