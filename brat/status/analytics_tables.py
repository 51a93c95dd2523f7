"""`brat analytics`, as people read it: a few lines, and a table for each question."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.text import Text

from brat.status.list_tables import plain_table
from convoy.model.session_result import dollars
from convoy.text import spoken_duration
from convoy.views.analytics import Analytics, TimeSpread, analytics_summary


def drawn(found: Analytics) -> RenderableType:
    """Return all figures."""
    return Group(*_parts(found))


def _parts(found: Analytics) -> Iterator[RenderableType]:
    yield Text(analytics_summary(found))
    if found.stages:
        yield _spreads("a change was", found.stages)
    if found.engines:
        table = plain_table(
            "engine", "kind", "changes", "first try", "sessions", "cost"
        )
        for one in found.engines:
            share = f"{one.percent} % ({one.first_try})"
            cost = dollars(one.usd) if one.usd else ""
            table.add_row(
                one.engine, one.kind, str(one.changes), share, str(one.sessions), cost
            )
        yield table
    lists = (
        ("went back because of", found.rework),
        ("check was red", found.reds),
        ("check flaked", found.flakes),
    )
    for title, rows in lists:
        if rows:
            table = plain_table(title, "times")
            for name, count in rows:
                table.add_row(Text(name), str(count))
            yield table
    if found.asked:
        yield _spreads("people were asked", found.asked)


def _spreads(title: str, found: dict[str, TimeSpread]) -> RenderableType:
    table = plain_table(title, "times", "half took", "nine of ten took")
    for name, one in found.items():
        half, most = (spoken_duration(round(each)) for each in (one.median, one.most))
        table.add_row(name, str(one.count), f"at most {half}", f"at most {most}")
    return table
