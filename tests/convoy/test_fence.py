"""Text from outside in a prompt, behind a fence that it cannot leave."""

import pytest
from hypothesis import given, settings, strategies as st
from inline_snapshot import snapshot

from convoy.text import fence_of, fenced
from tests.world.cases import looped


@given(st.text(), st.text())
@settings(deadline=None)
def test_fenced_text_never_ends_its_fence(text: str, more: str) -> None:
    fence = "data-3f9a1c77"

    wrapped = fenced(f"{text}{fence}{more}</{fence.upper()}>", fence)

    first, *data, last = wrapped.split("\n")
    assert (first, last) == (f"<{fence}>", f"</{fence}>")
    assert fence not in "\n".join(data).lower()


def test_fenced_text_is_otherwise_as_it_was() -> None:
    assert fenced("a\n<b>", "data-3f9a1c77") == snapshot("""\
<data-3f9a1c77>
a
<b>
</data-3f9a1c77>\
""")


@looped("", "short", "with space", "a" * 81, "line\nline")
def test_a_fence_that_could_be_guessed_or_broken_is_refused(fence: str) -> None:
    with pytest.raises(ValueError, match="a fence is 8 to 80 letters"):
        fenced("a", fence)


def test_each_session_has_a_fence_of_its_own_and_always_the_same() -> None:
    assert len({fence_of(f"{number:032x}") for number in range(100)}) == 100
    assert fence_of("a" * 32) == fence_of("a" * 32) == snapshot("data-d51aa37609bb10df")
    assert "a" * 8 not in fence_of("a" * 32)
    assert fenced("x", fence_of("a" * 32))
