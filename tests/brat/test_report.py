"""A convoy's report: one page that says how it went, and that nobody can misuse."""

import re

from brat.report import check_tallies, page
from convoy.events import Event
from convoy.log.record import fact_of
from convoy.model.records import Usage
from convoy.rules.ending import LoseSession
from convoy.rules.landing import ClearMerge, DoubtMerge, FailMerge
from grite.event import CommentAdded
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, sha, spec

HOSTILE = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7 * 7 }}"


def facts(rules: Rules) -> list[tuple[int, Event]]:
    return [
        (event.ts, fact)
        for event in rules.written
        if isinstance(event.kind, CommentAdded)
        and isinstance(fact := fact_of(event.kind.body), Event)
    ]


def eventful(title: str = "Rank roles right") -> Rules:
    """One landed, one was sent back and landed then, one is lost, one runs."""
    rules = Rules().planned(spec(1), spec(2, title=title), spec(3), spec(4))
    rules.landed(1, sha("a")).started(2).accepted(2, sha("b"))
    rules.offered(2, sha("c"), sha("a"))
    red = FailMerge(
        convoy=NAME, task=2, candidate=sha("c"), cause="red", why=f"CI is red: {title}"
    )
    rules.do(red).started(2).accepted(2, sha("d")).offered(2, sha("e"), sha("a"))
    rules.landed_as(2, sha("e")).started(3)
    usage = Usage(input_tokens=1000, output_tokens=10, usd=0.5)
    why = "its machine died"
    lost = made(LoseSession, task=3, cause="lost", why=why, usage=usage)
    return rules.do(lost).started(4).blocked(3, why)


def told(rules: Rules) -> str:
    return page(rules.convoy, facts(rules), rules.now)


def test_the_page_has_bars_graph_cost_and_success() -> None:
    text = told(eventful())

    assert len(re.findall(r'<rect class="(landed|sent-back|lost|running)" ', text)) == 5
    assert text.count('<g class="task ') == 4
    assert "task 2, attempt 1 (sent back): CI is red: Rank roles right" in text
    assert "1,000 tokens in, 10 out, $0.50" in text
    assert '<td class="number">2 (67%)</td>' in text


def test_each_check_has_its_reds_and_its_time() -> None:
    rules = Rules().planned(spec(1), spec(2))
    rules.landed(1, sha("a")).started(2).accepted(2, sha("b"))
    rules.offered(2, sha("c"), sha("a")).now += 30_000
    red = DoubtMerge(
        convoy=NAME, task=2, candidate=sha("c"), is_red=True, checks=("ci",), why="red"
    )
    rules.do(red).offered(2, sha("d"), sha("a")).now += 10_000
    rules.do(ClearMerge(convoy=NAME, task=2, candidate=sha("d"), judged=("ci",)))
    rules.landed_as(2, sha("d"))

    (row,) = check_tallies(NAME, facts(rules))

    assert row.pop("seconds") >= 40 / 3
    assert row == {"name": "ci", "green": 2, "red": 1, "lost": 0}
    assert re.search(r"<td>ci</td>(<td class=\"number\">[210]</td>){3}", told(rules))


@looped(Rules().planned(spec(1)), eventful(HOSTILE))
def test_it_needs_nothing_else_and_hostile_text_stays_text(rules: Rules) -> None:
    text = told(rules)

    assert "<script" not in text
    assert "<img" not in text
    assert "http" not in text.replace("http-equiv", "").replace("https", "http")
    assert not re.search(r"<(link|iframe|object|embed)\b|<[^>\"]*\bsrc=|url\(", text)
