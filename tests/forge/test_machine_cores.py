"""How many cores a machine gives us, by its affinity and its quota."""

import os
from pathlib import Path

import pytest

from brat.forge.service.local_ci import cores


@pytest.mark.parametrize(
    ("held", "seen"),
    [("max 100000", 64), ("250000 100000", 2), ("50000 100000", 1), ("", 64)],
)
def test_a_containers_quota_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: str, seen: int
) -> None:
    monkeypatch.setattr(
        os, "sched_getaffinity", lambda _: set(range(64)), raising=False
    )
    (tmp_path / "cpu.max").write_text(held)

    assert cores(tmp_path / "cpu.max") == seen


def test_where_there_is_no_quota_the_machines_cores_count(tmp_path: Path) -> None:
    assert 1 <= cores(tmp_path / "none") <= (os.cpu_count() or 1)
