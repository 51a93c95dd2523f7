"""Which lines of a comment are commands, and what they say."""

from hypothesis import given, settings, strategies as st

from bot.text.slash_commands import (
    MOST_COMMANDS,
    MalformedCommand,
    SlashCommand,
    mentioned,
    slash_commands,
)
from tests.world.cases import looped


def said(text: str) -> list[tuple[str, ...]]:
    """Return verb and words of all commands; each must be one."""
    found = slash_commands(text)
    assert all(isinstance(each, SlashCommand) for each in found), found
    return [
        (each.verb, *each.words) for each in found if isinstance(each, SlashCommand)
    ]


def only(text: str) -> SlashCommand:
    (found,) = slash_commands(text)
    assert isinstance(found, SlashCommand)
    return found


def refused(text: str) -> str:
    (found,) = slash_commands(text)
    assert isinstance(found, MalformedCommand)
    return found.why


@looped(
    *("/brat retry 3", "   /brat retry 3", "/brat  retry\t3  ", "/BRAT Retry 3"),
    *("/brat retry 3\r\nSee you.", "\n\n/brat retry 3", "> a quote\n\n/brat retry 3"),
    *("> Ann wrote:\n> no\n\n> yes\n\n/brat retry 3", "/brat re\u200btry 3\U000e0041"),
    *("/brat retry 3.", "/brat retry 3! -- please"),
    "/brat retry 3\n\n<details>\n<summary>log</summary>\n\n/brat drop 3\n\n</details>",
    "/brat retry 3\n\n[^1]: http://a.b\n/brat drop 3",
    "/brat retry 3\n\n<blockquote>\n\n/brat drop 3\n\n</blockquote>",
    "/brat retry 3\n\n<table><tr><td>\n\n/brat drop 3\n\n</td></tr></table>",
    "/brat retry 3\n\nShe wrote: <details>\n\n/brat drop 3\n\n</details>",
    "/brat retry 3\nShe <i>wrote</i>: <q>\n/brat drop 3",
    "/brat retry 3\nShe wrote: <q>\n/brat drop 3\n</q>",
)
def test_a_comment_that_begins_with_brat_has_commands(text: str) -> None:
    assert said(text) == [("retry", "3")]


@looped(
    *("Thanks!\n/brat retry 3\nSee you.", "Thanks!\r\n/brat retry 3\r\n"),
    *("- a list\n\n/brat retry 3", "<!-- a comment -->\n\n/brat retry 3"),
    *("~~done~~\n/brat retry 3", "`code`\n/brat retry 3", "*/brat* is\n/brat retry 3"),
    "Ann meant:\n\n/brat retry 3\n\n/brat drop 3",
)
def test_below_other_words_a_command_may_be_quoted(text: str) -> None:
    assert refused(text).startswith("this command follows")


@looped(
    "<details>\n<summary>Yesterday</summary>\n\n{}\n\n</details>",
    "See[^1].\n\n[^1]: http://example.org\n{}",
)
def test_what_is_quoted_in_other_forms_commands_nothing(quoted: str) -> None:
    assert slash_commands(quoted.format("/brat retry 3")) == ()
    assert mentioned(quoted.format("@brat start"), "brat[bot]") is None


@looped(
    *("", "please /brat retry 3", "/brats retry 3", "/brat/retry", "\\/brat retry 3"),
    *("    /brat retry 3", "\t/brat retry 3", "a paragraph\n    /brat retry 3"),
    *("```\n/brat retry 3\n```", "~~~ sh\n/brat retry 3", "`/brat retry 3`"),
    *("`a\n/brat retry 3\nb`", "> /brat retry 3"),
    *("> a quote that goes on\n/brat retry 3", "- /brat retry 3"),
    *("1. a\n/brat retry 3", "- [ ] /brat retry 3", "# /brat retry 3"),
    *("/brat retry 3\n===", "/brat retry 3\n---", "<div>\n/brat retry 3\n</div>"),
    *("<details>\n/brat retry 3\n</details>", "<!--\n/brat retry 3\n-->"),
    *("<!-- never closed\n/brat retry 3", "a <!--\n/brat retry 3\n-->"),
    *('<b title="\n/brat retry 3\n">', "[a link\n/brat retry 3\n](http://example.org)"),
    "![an image\n/brat retry 3\n](http://example.org)",
    *("*stressed\n/brat retry 3\nwords*", "~~struck\n/brat retry 3\nwords~~"),
    *("| a | b |\n|---|---|\n/brat retry 3", '[label]:\n/brat\n"retry 3"'),
)
def test_talk_about_a_command_is_none(text: str) -> None:
    assert slash_commands(text) == ()


def test_commands_come_in_their_order_and_more_than_ten_are_not_heard() -> None:
    text = "/brat retry 1\n/brat retry 2\n\n<b>and</b><br>\n\n/brat why 3"
    assert said(text) == [("retry", "1"), ("retry", "2"), ("why", "3")]

    found = slash_commands("/brat ping\n" * 12 + "/brat why 3")

    assert len(found) == MOST_COMMANDS + 1
    assert all(isinstance(each, SlashCommand) for each in found[:-1])
    assert isinstance(found[-1], MalformedCommand)
    assert "a comment can contain only 10 commands" in found[-1].why


def test_words_and_options_are_told_apart() -> None:
    found = only('/brat lock "path:my docs/" TTL=2h note="say \\"hi\\" \\\\" port:80=x')

    assert found.words == ("path:my docs/", "port:80=x")
    assert found.options == {"ttl": "2h", "note": 'say "hi" \\'}
    assert only('/brat lock a= b=""').options == {"a": "", "b": ""}
    assert only('/brat x "a -- b" --force a--b').words == ("a -- b", "--force", "a--b")
    assert only('/brat lock "path:a » b" "»"').words == ("path:a » b", "»")

    # What a phone makes of spaces and quotes is read alike.
    meant = only('/brat lock "path:my docs/" ttl=2h note="a b"')

    for opens, closes in ("\u201c\u201d", "\u201e\u201c", "\u00ab\u00bb"):
        docs, note = f"{opens}path:my docs/{closes}", f"note={opens}a b{closes}"
        for space in ("\u00a0", "\u202f", "\u2003", "\u3000"):
            typed = space.join(("/Brat", "Lock", docs, f"ttl=2h {note}"))
            assert only(typed) == meant


@looped("--", "-", "\u2014", "\u2013", "\u2012", "\u2212")
def test_text_follows_a_dash_up_to_the_end(dash: str) -> None:
    found = only(f"/brat start a=1 {dash} keep *all* -- b=2\n- one  \n- two\n\nmore")

    assert found.words == ()
    assert found.options == {"a": "1"}
    assert found.text == "keep *all* -- b=2\n- one\n- two\n\nmore"
    assert not found.below


MISSING = "the command is missing; `/brat help` lists all commands"


@looped(
    *(("/brat", MISSING), ("/brat -- do it", MISSING), ("/brat a=1", MISSING)),
    ("/brat lock a ttl=1h Ttl=2h", "the option `ttl` appears twice"),
    ('/brat lock "path:a', 'the quotes in `"path:a` do not match'),
    (
        '/brat lock "path:a"b @ann `#7` <!-- x --> [brat]',
        "the quotes in `\"path:a\"b @ann '#7' <!-- x --> [ brat]` do not match",
    ),
)
def test_what_cannot_be_taken_apart_is_said_in_a_sentence(said: str, why: str) -> None:
    assert refused(said) == why


PIECES = (
    *("/brat", "/brat retry", "/brat x -- y", " ", "\n", "\n\n", "    ", "\t", "\r\n"),
    *("> ", "- ", "# ", "`", "```", "<!--", "-->", "<div>", "</div>", '<a title="'),
    *('"', "'", "=", "--", "\\", "[", "](", ")", "![", "*", "~~", "|", "|---|", "---"),
    *("ttl=1h", "\u200b", "\U000e0041", "\ud800", "\x00", "\u2028", "&#x200b;"),
)
soup = st.lists(st.sampled_from(PIECES) | st.text(max_size=5), max_size=30).map("".join)


@given(soup)
@settings(deadline=None)
def test_any_text_is_heard_and_always_alike(text: str) -> None:
    found = slash_commands(text)

    assert found == slash_commands(text)
    assert len(found) <= MOST_COMMANDS + 1
    for each in found:
        if isinstance(each, MalformedCommand):
            assert each.why
            assert "\n" not in each.why
