"""Which forge a clone came from, and which token is for it."""

from pathlib import Path

import pygit2
import pytest

from brat.repository.remote_forge import origin_of
from brat.status import session_views
from grite.errors import BratError
from tests.world.kept import Kept
from tests.world.rules import Rules, spec

API, CLOUD = "https://api.", ("GH_TOKEN", "GITHUB_TOKEN")
SERVER = ("GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN")


FORGES = {
    "https://github.com/ann/app.git": "https://api.github.com",
    "https://x:y@github.com/ann/app": "https://api.github.com",
    "git@github.com:ann/app.git": "https://api.github.com",
    "git@corp.ghe.com:ann/app.git": "https://api.corp.ghe.com",
    "https://notghe.com/ann/app": "https://notghe.com/api/v3",
    "ssh://git@git.example:22/ann/app": "https://git.example/api/v3",
    "http://git.example/ann/app": "https://git.example/api/v3",
    "https://git.example:8443/ann/app/": "https://git.example:8443/api/v3",
    "http://127.0.0.1:80/ann/app.git": "http://127.0.0.1:80/api/v3",
    "https://github.com.evil/ann/app": "https://github.com.evil/api/v3",
    "https://github.com@evil.example/ann/app": "https://evil.example/api/v3",
}


def test_a_remote_names_its_forge(tmp_path: Path) -> None:
    remotes = pygit2.init_repository(str(tmp_path)).remotes
    remotes.create("origin", "x")
    for url, api in FORGES.items():
        remotes.set_url("origin", url)
        found = origin_of(tmp_path)

        assert found.api_url == api, url
        assert found.variables == (CLOUD if api.startswith(API) else SERVER)
        assert found.repository == "ann/app"
        page = api.removesuffix("/api/v3").replace("//api.", "//")
        assert found.web == f"{page}/ann/app"


def test_another_remote_names_none(tmp_path: Path) -> None:
    remotes = pygit2.init_repository(str(tmp_path)).remotes
    remotes.create("origin", "x")
    for url in ("/srv/git/app.git", "file:///srv/app", "https://a/b"):
        remotes.set_url("origin", url)
        why = "no remote `origin` that points to a repository"
        with pytest.raises(BratError, match=why):
            origin_of(tmp_path)


def test_a_session_whose_output_is_not_here_is_named_on_the_forge(
    tmp_path: Path,
) -> None:
    Kept(tmp_path, Rules().planned(spec(1), spec(2)).started(1))
    url = "git@git.example:ann/app.git"
    pygit2.Repository(str(tmp_path)).remotes.create("origin", url)

    where = "https://git.example/ann/app/actions/runs/101, or use --bot"
    with pytest.raises(BratError, match=f"ran on the forge; .* {where}"):
        session_views.tail_session(tmp_path, 1, None, None, following=False)
    with pytest.raises(BratError, match="task 2 has had no session yet"):
        session_views.tail_session(tmp_path, 2, None, None, following=False)
