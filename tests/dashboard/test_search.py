"""Search finds what agents printed, with a link to the task."""

from tests.dashboard.conftest import Opens
from tests.world.rules import Rules, spec

SAID = "Reading login.py\nThe Frobnicator says <b>no</b>\nBye\n"


def running() -> Rules:
    return Rules().planned(spec(1), spec(2)).started(1)


async def test_a_line_that_an_agent_printed_is_found(opens: Opens) -> None:
    async with opens(running(), output=lambda _: SAID) as visit:
        page = await visit.text("/search?words=frobnicator+NO")

    assert "Agent output" in page
    assert "The Frobnicator says &lt;b&gt;no&lt;/b&gt;" in page
    assert "Reading login.py" not in page


async def test_words_of_two_lines_are_not_found(opens: Opens) -> None:
    async with opens(running(), output=lambda _: SAID) as visit:
        page = await visit.text("/search?words=login.py+frobnicator")

    assert "No results contain all of these words" in page


async def test_output_that_is_elsewhere_is_not_fetched(opens: Opens) -> None:
    def fetched(_: object) -> str:
        raise AssertionError

    async with opens(running(), output=fetched, output_is_here=False) as visit:
        page = await visit.text("/search?words=frobnicator")

    assert "No results contain all of these words" in page
