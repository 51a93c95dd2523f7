"""Where a session's output is, when no bot of this machine receives it."""

from pathlib import Path

import pygit2
import pytest

from brat.status import session_views
from grite.errors import BratError
from tests.world.kept import Kept
from tests.world.rules import Rules, spec


def test_the_job_on_the_forge_is_named(tmp_path: Path) -> None:
    Kept(tmp_path, Rules().planned(spec(1), spec(2)).started(1))
    url = "git@git.example:ann/app.git"
    pygit2.Repository(str(tmp_path)).remotes.create("origin", url)

    where = "https://git.example/ann/app/actions/runs/101, or use --bot"
    with pytest.raises(BratError, match=f"ran on the forge; .* {where}"):
        session_views.tail_session(tmp_path, 1, None, None, following=False)
    with pytest.raises(BratError, match="task 2 has had no session yet"):
        session_views.tail_session(tmp_path, 2, None, None, following=False)
