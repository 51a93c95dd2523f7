"""What a repository was like at a time that is past."""

import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from brat.commands.print_history import past_time
from tests.brat.telling import Telling
from tests.world.cases import looped
from tests.world.patience import patient
from tests.world.rules import NAME, sha

pytestmark = pytest.mark.layer("landing")

NOW = round(datetime(2026, 3, 5, 12, 30, tzinfo=UTC).timestamp() * 1000)


def brat(path: Path, *words: str) -> tuple[int, str]:
    done = subprocess.run(
        (sys.executable, "-m", "brat", *words, "--repo", str(path)),
        capture_output=True,
        text=True,
        timeout=patient(60),
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture
def told(tmp_path: Path) -> Telling:
    """Give a log of a task that was planned, then started, each in its own commit."""
    telling = Telling(tmp_path / "log.git")
    telling.tell()
    return telling


@looped(
    ("text", "before_s"),
    [
        ("90s", 90),
        ("15m", 900),
        ("2h ago", 7200),
        ("1w", 7 * 86400),
        ("2026-03-05T12:00:00+00:00", 1800),
    ],
)
def test_people_type_times_in_many_ways(text: str, before_s: int) -> None:
    assert past_time(text, NOW) == NOW - 1000 * before_s


def test_an_hour_is_the_last_one_that_has_been() -> None:
    here = datetime.fromtimestamp(NOW / 1000).astimezone()
    ahead = f"{here.hour + 1:02}:00" if here.hour < 23 else "23:59"

    assert past_time("0:00", NOW) <= NOW
    assert NOW - 86_400_000 <= past_time(ahead, NOW) < NOW


@looped("text", ["", "12:61", "99999999w", "3 fortnights", "1e3"])
def test_other_words_are_no_times(text: str) -> None:
    with pytest.raises(ValueError, match="is no time"):
        past_time(text, NOW)


def test_analytics_are_printed_for_people_and_programs(
    told: Telling, tmp_path: Path
) -> None:
    told.rules.landed(1, sha("a"))
    told.tell()
    table = tmp_path / "changes.csv"

    words = brat(told.path, "analytics")
    document = brat(told.path, "analytics", "--json")
    written = brat(told.path, "analytics", "--csv", str(table))
    recent = brat(told.path, "analytics", "--since", "1h")
    both = brat(told.path, "analytics", "--csv", "-", "--json")

    assert words[1].startswith("1 change landed in 1 day")
    found = json.loads(document[1])["analytics"]
    assert (found["changes"], found["engines"][0]["first_try"]) == (1, 1)
    assert written == (0, f"wrote {table}\n")
    assert table.read_text().splitlines()[1].startswith(f"{NAME},1,work,")
    assert recent == (0, "no change has landed\n")
    assert (both[0], "give --csv or --json, not both" in both[1]) == (2, True)
