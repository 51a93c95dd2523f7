"""Whatever lies in the folder an entry point is started in, none of it is imported."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.world.patience import patient
from tests.world.program import ran
from tests.world.terminal import BRAT

pytestmark = pytest.mark.layer("landing")

ROOMS = ("brat", "bot", "runner", "convoy", "grite")
LIBRARY = ("json", "asyncio", "msgspec", "httpx", "click", "encodings", "site")


@pytest.fixture
def trap(tmp_path: Path) -> Path:
    folder = tmp_path / "evil"
    spring = f"open({str(tmp_path / 'sprung')!r}, 'a').write(__name__)\n"
    for room in ROOMS:
        (folder / room).mkdir(parents=True)
        for name in ("__init__.py", "__main__.py"):
            (folder / room / name).write_text(spring)
    for name in (*LIBRARY, "sitecustomize", "usercustomize"):
        (folder / f"{name}.py").write_text(spring)
    return folder


@pytest.mark.parametrize(
    ("argv", "word"),
    [
        ((sys.executable, "-I", "-m", "runner"), "BRAT_SESSION"),
        ((sys.executable, "-I", "-m", "bot", "none.json"), "none.json"),
        ((sys.executable, "-I", "-m", "brat.forge", "--help"), "--feed"),
        ((sys.executable, "-I", "-m", "brat", "--help"), "mayor"),
        ((str(BRAT), "--help"), "mayor"),
        ((str(BRAT), "status"), "is not in a git repository"),
    ],
    ids=lambda value: " ".join(value[1:]) if isinstance(value, tuple) else "",
)
def test_an_entry_point_imports_nothing_from_where_it_is_started(
    trap: Path, argv: tuple[str, ...], word: str
) -> None:
    done = ran(
        argv, cwd=trap, env={"PATH": os.environ["PATH"], "HOME": str(trap.parent)}
    )

    assert word in done.stdout + done.stderr
    assert not (trap.parent / "sprung").exists()


def test_the_trap_would_spring(trap: Path) -> None:
    argv = [sys.executable, "-m", "runner"]

    subprocess.run(
        argv, cwd=trap, capture_output=True, timeout=patient(30), check=False
    )

    assert (trap.parent / "sprung").exists()
