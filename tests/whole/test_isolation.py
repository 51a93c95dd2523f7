"""Whatever lies in the folder an entry point is started in, none of it is imported."""

import os
import sys
from pathlib import Path

import pytest

from tests.world.program import ran
from tests.world.terminal import BRAT

pytestmark = pytest.mark.layer("landing")

ROOMS = ("brat", "bot", "runner", "convoy", "grite")
LIBRARY = ("json", "asyncio", "msgspec", "httpx", "click", "encodings", "site")


def test_an_entry_point_imports_nothing_from_where_it_is_started(
    tmp_path: Path,
) -> None:
    trap, sprung = tmp_path / "evil", tmp_path / "sprung"
    spring = f"open({str(sprung)!r}, 'a').write(__name__)\n"
    for room in ROOMS:
        (trap / room).mkdir(parents=True)
        for name in ("__init__.py", "__main__.py"):
            (trap / room / name).write_text(spring)
    for name in (*LIBRARY, "sitecustomize", "usercustomize"):
        (trap / f"{name}.py").write_text(spring)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    python = (sys.executable, "-I", "-m")
    for argv, word in (
        ((*python, "runner"), "BRAT_SESSION"),
        ((*python, "bot", "none.json"), "none.json"),
        ((*python, "brat.forge", "--help"), "--feed"),
        ((*python, "brat", "--help"), "mayor"),
        ((BRAT, "--help"), "mayor"),
        ((BRAT, "status"), "is not in a git repository"),
    ):
        done = ran(argv, cwd=trap, env=env)

        assert word in done.stdout + done.stderr
        assert not sprung.exists(), argv

    ran((sys.executable, "-m", "runner"), cwd=trap, env=env)
    assert sprung.exists(), "the trap would spring"
