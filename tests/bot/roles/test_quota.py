"""How much may be started, and what is said when it is too much."""

from datetime import UTC, datetime

from msgspec.structs import replace

from bot.settings.bot_settings import Quota, quota_refusal
from convoy.model.ids import HOUR_MS
from convoy.model.records import EngineSpec, Settings
from convoy.model.state import Convoy, State
from convoy.model.work import Convoys
from tests.bot.there import there
from tests.world.cases import looped

NOW = int(datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000
GENEROUS = Quota(person_hour=9, repository_hour=9, installation_hour=9, unfinished=9)


def state(*asked: tuple[str, int], ended: bool = True) -> State:
    convoys = {
        f"c{number}": Convoy(
            name=f"c{number}",
            issue=number,
            title="",
            text="",
            by=by,
            target="main",
            base="",
            settings=Settings(engines={"default": EngineSpec(type="shell")}),
            state="complete" if ended else "active",
            requested_at=NOW - ago * MINUTE_MS,
        )
        for number, (by, ago) in enumerate(asked)
    }
    return State(convoys=Convoys(convoys))


def asked(quota: dict[str, int], held: State, *elsewhere: int) -> str | None:
    told = GENEROUS.model_copy(update=quota)
    moments = [NOW - ago * MINUTE_MS for ago in elsewhere]
    return quota_refusal(told, held, "ann", moments, NOW)


def test_a_person_who_asked_for_too_much_is_told_when() -> None:
    held = state(("ann", 50), ("ann", 20), ("bob", 1))

    assert asked({"person_hour": 3}, held) is None
    assert asked({"person_hour": 2}, held) == (
        "@ann has reached the limit of 2 new convoys an hour: add the label again at "
        "12:10 UTC."
    )
    assert asked({"person_hour": 1}, held) == (
        "@ann has reached the limit of 1 new convoy an hour: add the label again at "
        "12:40 UTC."
    )


def test_what_was_asked_an_hour_ago_counts_no_more() -> None:
    held = state(("ann", 60), ("ann", 59))

    assert asked({"person_hour": 2}, held) is None


def test_a_repository_and_an_installation_have_limits_too() -> None:
    held = state(("bob", 30), ("carol", 10))

    repository = asked({"repository_hour": 2}, held)
    installation = asked({"installation_hour": 3}, held, 40)

    assert repository is not None
    assert repository.startswith("This repository has reached the limit of 2")
    assert installation is not None
    assert installation.startswith("This installation has reached the limit of 3")
    assert "at 12:20 UTC" in installation


def test_too_many_at_once_wait_for_one_to_end() -> None:
    held = state(("bob", 300), ("carol", 300), ended=False)

    assert asked({"unfinished": 3}, held) is None
    said = there(asked({"unfinished": 2}, held))
    assert "This repository has 2 unfinished convoys, which is the limit" in said


def test_nothing_at_all_may_be_allowed() -> None:
    said = there(asked({"person_hour": 0}, state()))

    assert "once the bot's operator raises the limit" in said


@looped(1, HOUR_MS - 1)
def test_the_moment_that_is_named_is_late_enough(ago_ms: int) -> None:
    held = state(("ann", 0))
    (convoy,) = held.convoys.values()
    at = NOW - ago_ms
    held = State(convoys=held.convoys.having(replace(convoy, requested_at=at)))

    said = there(asked({"person_hour": 1}, held))

    hour, minute = said.split(" at ")[1].split(" ")[0].split(":")
    named = datetime(2026, 1, 2, int(hour), int(minute), tzinfo=UTC).timestamp() * 1000
    assert 0 <= named - (at + HOUR_MS) < MINUTE_MS
