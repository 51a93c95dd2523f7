"""What a message makes a forge do, and that it does not any more."""

from hypothesis import given, strategies as st

from convoy.text.commit_message import inert
from tests.world.cases import looped

PIECES = [
    "[skip ci]",
    "fixes",
    "Closes:",
    "#12",
    "a/b#3",
    "skip-checks: true",
    "\n",
    " ",
]


@looped(
    ("message", "shown"),
    [
        ("Add it [skip ci]", "Add it (skip ci)"),
        ("[CI Skip] Add it", "(CI Skip) Add it"),
        ("[no ci][actions skip]", "(no ci)(actions skip)"),
        ("Add it\n\n\nskip-checks: true\n", "Add it\n\n\nskip-checks true\n"),
        ("Fixes #12", "Fixes issue #12"),
        (
            "closes: #12, resolved a-b/c.d#3",
            "closes issue #12, resolved issue a-b/c.d#3",
        ),
        ("fix gh-7", "fix issue gh-7"),
        (
            "Fixed https://forge.example/a/b/issues/4",
            "Fixed issue https://forge.example/a/b/issues/4",
        ),
    ],
)
def test_a_message_makes_a_forge_do_nothing(message: str, shown: str) -> None:
    assert inert(message) == shown


@looped(
    "message",
    [
        "Fix the colour #fff",
        "It closes 12 doors",
        "[skip] ci",
        "prefixes #12",
        "See #12",
    ],
)
def test_what_says_nothing_to_a_forge_stays(message: str) -> None:
    assert inert(message) == message


@given(st.lists(st.sampled_from(PIECES)))
def test_twice_is_as_good_as_once(pieces: list[str]) -> None:
    once = inert(" ".join(pieces))

    assert inert(once) == once
