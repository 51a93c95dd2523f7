from hypothesis import example, given, strategies as st

from convoy.text import SIGNED_OFF, inert, squashed
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

PIECES = [
    *("[skip ci]", "fixes", "Closes:", "#12", "a/b#3", "skip-checks: true"),
    *("Signed-off-by: Ann <a@b.c>", "**", "@ann", "***NO_CI***", "Release-As:"),
    *("ENG-1", "AB#2", "#close", "[[skip ci]]", "\n", " "),
]


@looped(
    ("Add it [skip ci]", "Add it (skip ci)"),
    ("[CI Skip] Add it", "(CI Skip) Add it"),
    ("[no ci][actions skip]", "(no ci)(actions skip)"),
    ("Add it\n\n\nskip-checks: true\n", "Add it\n\n\nskip-checks true\n"),
    ("Fixes #12", "Fixes issue #12"),
    ("closes: #12, resolved a-b/c.d#3", "closes issue #12, resolved issue a-b/c.d#3"),
    ("fix gh-7", "fix issue gh-7"),
    ("Fixes [#12](https://x)", "Fixes issue [#12](https://x)"),
    ("**Fixes:** #12, __closes__ (#3)", "**Fixes** issue #12, __closes__ issue (#3)"),
    ("[skip-ci][skip azurepipelines]", "(skip-ci)(skip azurepipelines)"),
    ("[circleci skip] [netlify-skip]", "(circleci skip) (netlify-skip)"),
    ("Add it [ skip ci ]", "Add it (skip ci)"),
    ("Fixes AB#12, implements #3", "Fixes issue AB#12, implements issue #3"),
    ("Fixes ENG-12, ENG-13 and X2-1", "Fixes ENG 12, ENG 13 and X2 1"),
    (
        "Completes: [https://linear.app/a/issue/ENG-1/x-2]",
        "Completes: [https://linear.app/a/issue/ENG 1/x-2]",
    ),
    ("ENG-12 add it #done #time 2h", "ENG-12 add it # done # time 2h"),
    ("ENG-1 fixes\n#12 #close", "ENG-1 fixes issue #12 # close"),
    (
        "re-open: it\n\nRelease-As: 9.0.0\nBREAKING CHANGE: all\nBrat-Task: a",
        "re-open: it\n\nRelease-As 9.0.0\nBREAKING CHANGE all\nBrat-Task: a",
    ),
    ("Add it ***NO_CI***", "Add it NO_CI"),
    ("Ask @ann, (@org/team) and a@b.c", "Ask @ ann, (@ org/team) and a@b.c"),
    ("Add \u202eti\u2066 it\x07\x1b[31m", "Add ti it"),
    (
        "Fixed https://forge.example/a/b/issues/4",
        "Fixed issue https://forge.example/a/b/issues/4",
    ),
    (
        f"Add it\n\nSigned-off-by: Ann <a@b.c>\n{SIGNED_OFF}\nAcked-By : Bob",
        f"Add it\n\nSigned-off-by Ann <a@b.c>\n{SIGNED_OFF}\nAcked-By Bob",
    ),
    *(  # says nothing to a forge
        (said, said)
        for said in (
            *("Fix the colour #fff", "It closes 12 doors", "[skip] ci", "prefixes #12"),
            *("See #12", "Fix UTF-8 and SHA-1", "ENG-12 add it", "web-ui: add it"),
        )
    ),
)
def test_a_message_makes_a_forge_do_nothing(message: str, shown: str) -> None:
    assert inert(message) == shown


@looped(("fix", "*"), ("\nby-me", " "), ("fix", "\n"), ("[", " "))
def test_a_message_made_to_be_slow_is_read_in_one_pass(first: str, piece: str) -> None:
    assert growth(lambda pieces: inert(f"{first}{piece * pieces}x"), 2_000) < LINEAR


@looped(
    (["Add it", "feat(api)!: add it", "fix: mend it"], "feat(api)!: add it"),
    (["net/http: close it [skip ci]"], "net/http: close it (skip ci)"),
    (["ABC-12 add it"], "ABC-12 add it"),
    (["[docs] say it"], "[docs] say it"),
    (["wip", "done", "Make it so: now"], "The task"),
    ([f"fix: {'x' * 100}"], "The task"),
    ([], "The task"),
)
def test_a_squash_takes_the_projects_subject_and_the_sessions_own_sign_off(
    said: list[str], subject: str
) -> None:
    task, signed = "The task\n\nBrat-Task: a\n", "Signed-off-by: Ann <a@b.c>"

    assert squashed(task, said) == f"{subject}\n\nBrat-Task: a\n"
    own = [*said, f"More.\n\n{signed}\n{SIGNED_OFF}\n", "more"]
    assert squashed(task, own) == f"{subject}\n\nBrat-Task: a\n{SIGNED_OFF}\n"
    assert "Signed-off-by" not in squashed("x\n", [f"y\n\n{signed}"])


@given(st.lists(st.sampled_from(PIECES)))
@example(["\n", "Release-As:", " ", "#close"])
def test_twice_is_as_good_as_once(pieces: list[str]) -> None:
    once = inert(" ".join(pieces))

    assert inert(once) == once
