"""The whole loop on GitHub Enterprise Server: what only github.com knows is not needed.

Its releases so far do not know `return_run_details` of a dispatch and refuse it, have
no rate limits by default, and say their version with each answer.
"""

from pathlib import Path

import pytest

from tests.world.extended import extended, forge_folder
from tests.world.github_forge.profiles import choose, names
from tests.world.words import engine, project

pytestmark = pytest.mark.timeout(300)
OLDEST = min(name for name in names() if name.startswith("ghes-"))
LIST = "Say words\n\n- [ ] Say hi\n- [ ] Say bye (after 1)\n"
AGENT = "echo done > $BRAT_TASK.txt"


def test_a_convoy_lands_on_an_enterprise_server(tmp_path: Path) -> None:
    terminal = extended(project(tmp_path, engine(AGENT)))
    terminal.done("brat init")
    choose(forge_folder(terminal), OLDEST)

    said = terminal.type(f"brat mayor start --task '{LIST}' --headless")

    assert said.status == 0, said.err
    (pull,) = said.after("landed; bring it into your checkout with: ")
    terminal.done(pull)
    assert (terminal.cwd / "1.txt").exists()
    assert (terminal.cwd / "2.txt").exists()
