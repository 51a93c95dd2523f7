import math

import pytest

from convoy.events.session_events import WorkRefused
from convoy.log import body_of
from convoy.log.record import fact_of
from convoy.model.records import USD_MOST, Price, Usage
from convoy.model.session_result import priced, usage_in_words, usage_noted
from convoy.rules.ending import AcceptNothing, AcceptWork, LoseSession, RefuseWork
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

ONE = Usage(input_tokens=100, cached_tokens=40, output_tokens=10, usd=0.25)
SOME = Usage(input_tokens=1_000_000, cached_tokens=500_000, output_tokens=100_000)


def test_what_cannot_be_is_nothing_and_an_event_of_an_older_log_used_nothing() -> None:
    assert Usage(input_tokens=-1, usd=-1.0).bounded == Usage()
    assert Usage(usd=math.nan).bounded == Usage()
    assert Usage(usd=math.inf).bounded.usd == USD_MOST

    event = WorkRefused(convoy=NAME, task=1, attempt=1, why="no")
    before, begin, rest = body_of(event, event.sentence()).partition('"usage":')
    assert begin
    assert fact_of(before + rest.partition("},")[2]) == event


@looped((None, None, 6.0), (None, 0.3, 4.65), (0.5, None, 0.5), (0.0, None, 0.0))
def test_a_price_is_per_million_tokens_where_the_engine_reckons_none(
    own: float | None, cached: float | None, usd: float
) -> None:
    found = priced(SOME, own, Price(input=3.0, output=15.0, cached=cached))

    assert found.usd == pytest.approx(usd)
    assert found.unpriced_tokens == 0
    assert priced(SOME, None, None).unpriced_tokens == 1_600_000


def test_a_file_that_was_cut_tells_what_it_can() -> None:
    whole = (
        b'{"type":"usage","model":"m","input_tokens":7,"output_tokens":-2}\n'
        b'{"type":"cost","usd":0.5}\n\xff\n[]\n{"input_tokens":"7"}\n'
        b'{"type":"usage","input_tokens":3,"cached_tokens":1}\n{"type":"cost","us'
    )

    assert usage_noted(whole) == (Usage(input_tokens=10, cached_tokens=1), 0.5)
    assert usage_noted(b"") == (Usage(), None)


def test_every_way_a_session_ends_counts_what_it_used() -> None:
    rules = Rules().planned(spec(1), spec(2), attempts=5).started(1)
    rules.refused(1, usage=ONE).started(1)
    again = made(RefuseWork, cause="failed", usage=ONE)
    assert rules.ask(again) is not None, "once"
    rules.do(made(LoseSession, attempt=2, cause="lost", usage=ONE)).started(1)
    rules.do(made(AcceptWork, attempt=3, commit=sha("a"), usage=ONE))
    assert rules.task(1).used == Usage(
        input_tokens=300, cached_tokens=120, output_tokens=30, usd=0.75
    )
    rules.started(2).do(AcceptNothing(convoy=NAME, task=2, attempt=1, usage=ONE))

    assert rules.task(2).used == ONE
    assert rules.state.convoys[NAME].used.usd == 1.0


@looped(
    (Usage(), ""),
    (ONE, "140 tokens in (40 cached), 10 out, $0.25"),
    (Usage(usd=0.00125), "0 tokens in, 0 out, $0.0013"),
    (Usage(input_tokens=5, unpriced_tokens=5), "5 tokens in, 0 out, price unknown"),
    (
        Usage(input_tokens=5000, unpriced_tokens=1000, usd=1.5),
        "5,000 tokens in, 0 out, $1.50, plus 1,000 tokens of unknown price",
    ),
)
def test_people_are_told_in_a_few_words(usage: Usage, said: str) -> None:
    assert usage_in_words(usage) == said
