"""What a bot is told: settings that would serve anybody, or only half, are refused."""

import json
from ipaddress import ip_network
from pathlib import Path

import pytest

from bot.settings.bot_settings import ServiceSettings, Settings, read_settings_as
from bot.settings.hosts import Origins
from grite.errors import BratError
from tests.world.cases import looped

ONE_WAY = "set either token or both app_id and private_key_file"
TOGETHER = "app_id and private_key_file must be set together"
DASHBOARD = {
    "token": "t",
    "secret": "s" * 16,
    "repositories": ("octo/project",),
    "dashboard_url": "https://brat.example",
    "dashboard_port": 0,
    "client_id": "Iv1.x",
    "client_secret": "c",
}
NETWORKS = ("192.30.252.0/22", "2a0a:a440::/29")


@looped(
    ({}, ONE_WAY),
    ({"app_id": 1}, TOGETHER),
    ({"private_key_file": "x"}, TOGETHER),
    ({"token": "x", "app_id": 1, "private_key_file": "x"}, ONE_WAY),
    (
        {"token": "x", "write_gap_s": -1},
        "write_gap_s: Input should be greater than or equal to 0",
    ),
)
def test_there_is_one_way_in(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    file = tmp_path / "bot.json"
    told = {
        "repository": "octo/project",
        "api_url": "https://x",
        "git_url": "https://x",
        "secret": "made-up-secret-of-the-webhook",
        "folder": "x",
        **given,
    }
    file.write_text(json.dumps(told))

    with pytest.raises(BratError) as error:
        read_settings_as(Settings, file)

    assert str(error.value) == f"{file}: {said}"


@looped(
    ({"token": "x", "secret": "short"}, "at least 16 characters"),
    ({"token": "x"}, "required if token is set"),
    ({"app_id": 1, "private_key_file": "x"}, "list the accounts"),
    ({"token": "x", "repositories": ["x"]}, "pattern"),
    (DASHBOARD | {"dashboard_url": "http://brat.example"}, "dashboard_url"),
    (DASHBOARD | {"client_id": ""}, "people sign in to the dashboard"),
    (DASHBOARD | {"client_secret": ""}, "people sign in to the dashboard"),
    (DASHBOARD | {"api_token": "short"}, "api_token"),
    (DASHBOARD | {"allowed_networks": ["here"]}, "allowed_networks"),
)
def test_settings_that_serve_anybody_or_half_a_dashboard_are_refused(
    given: dict[str, object], said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        ServiceSettings.model_validate({"folder": "bot", **given})


def test_the_settings_name_networks() -> None:
    more = {"folder": "bot", "allowed_networks": NETWORKS, "trusted_proxies": 1}

    told = ServiceSettings.model_validate(DASHBOARD | more)

    hooks = tuple(map(ip_network, NETWORKS))
    assert told.origins == Origins(networks=hooks, proxies=1)


@looped(
    (("alice",), (), "Alice/App", True),
    (("alice",), (), "mallory/app", False),
    (("alice",), ("alice/app",), "alice/lib", False),
    ((), ("Alice/App",), "alice/app", True),
    (("alice",), (), "alice/..", False),
)
def test_only_the_named_are_served(
    owners: tuple[str, ...],
    listed: tuple[str, ...],
    name: str,
    *,
    served: bool,
    tmp_path: Path,
) -> None:
    told = ServiceSettings(
        folder=tmp_path,
        app_id="1",
        private_key_file=tmp_path / "x",
        allowed_owners=owners,
        repositories=listed,
    )

    assert told.serves(name) is served
