"""What the seven CLIs send passes the key proxy, and is what docs say they send."""

import pytest

from tests.engines.cases import ENGINES, Engine, on
from tests.engines.record import ENGINES_ASKED, LONG_S, dialect, kept, sent
from tests.runner.job import Forge, Left

pytestmark = pytest.mark.timeout(LONG_S + 60)


@pytest.mark.parametrize(
    "engine",
    [on(one, named=f"{one.type}-{one.model or 'its own'}") for one in ENGINES_ASKED],
)
def test_nothing_of_an_engines_own_is_refused(forge: Forge, engine: Engine) -> None:
    left, found = sent(forge, engine)

    assert left.result["outcome"] == "uncommitted", left.said[-3000:]
    assert refused(left) == []
    written = kept()[dialect(engine)]
    unknown = {
        name: [one for one in each if engine.type not in written[name].get(one, "")]
        for name, each in found.items()
    }
    new = f"{engine.type} sends what is not listed: {unknown}"
    assert not any(unknown.values()), f"{new}: python -m tests.engines.record"


SEARCH = "tools[].type=web_search"


@pytest.mark.needs("codex")
@pytest.mark.parametrize("allow", [(), (SEARCH,)])
def test_a_search_at_the_vendor_is_refused_in_words_unless_it_is_opened(
    forge: Forge, allow: tuple[str, ...]
) -> None:
    left, found = sent(
        forge, ENGINES["codex"], args=("-c", "web_search=live"), allow=allow
    )

    if allow:
        assert left.result["outcome"] == "uncommitted", left.said[-3000:]
        assert SEARCH in found["fields"]
    else:
        assert found["paths"] == []
        assert f"brat does not forward a request with {SEARCH}" in left.result["why"]
        assert refused(left) == [f"{SEARCH} in a request to its model"]


def refused(left: Left) -> list[str]:
    said = [each["what"] for each in left.told if each["type"] == "refused"]
    return [each for each in said if "its model" in each]
