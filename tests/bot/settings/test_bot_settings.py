"""What a bot is told: settings that would serve anybody, or only half, are refused."""

import json
from datetime import UTC, datetime
from ipaddress import ip_network
from pathlib import Path

import pytest
from msgspec.structs import replace

from bot.settings.bot_settings import (
    Quota,
    ServiceSettings,
    Settings,
    quota_refusal,
    read_settings_as,
)
from bot.settings.hosts import Origins
from convoy.model.state import State
from convoy.model.work import Convoys
from grite.errors import BratError
from tests.bot.there import there
from tests.world.cases import looped
from tests.world.rules import Rules, spec

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
TOLD = {
    "repository": "octo/project",
    "api_url": "https://x",
    "git_url": "https://x",
    "secret": "made-up-secret-of-the-webhook",
    "folder": "x",
}
NETWORKS = ("192.30.252.0/22", "2a0a:a440::/29")


@looped(
    (TOLD, ONE_WAY),
    (TOLD | {"app_id": 1}, TOGETHER),
    (TOLD | {"private_key_file": "x"}, TOGETHER),
    (TOLD | {"token": "x", "app_id": 1, "private_key_file": "x"}, ONE_WAY),
    (
        TOLD | {"token": "x", "write_gap_s": -1},
        "write_gap_s: Input should be greater than or equal to 0",
    ),
    (
        TOLD | {"token": "x", "write_gaps": 1},
        "write_gaps: the bot has no such setting: remove it; did you mean write_gap_s?",
    ),
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
def test_settings_without_one_way_in_or_that_serve_anybody_are_refused(
    told: dict[str, object], said: str, tmp_path: Path
) -> None:
    """So are those of half a dashboard."""
    file = tmp_path / "bot.json"
    file.write_text(json.dumps({"folder": "bot"} | told))

    with pytest.raises(BratError) as error:
        read_settings_as(Settings if "repository" in told else ServiceSettings, file)

    why = str(error.value)
    assert why == f"{file}: {said}" if "repository" in told else said in why


@looped(
    (("alice",), (), "Alice/App", True),
    (("alice",), (), "mallory/app", False),
    (("alice",), ("alice/app",), "alice/lib", False),
    ((), ("Alice/App",), "alice/app", True),
    (("alice",), (), "alice/..", False),
    (("alice",), ("bob/app",), "bob/app", False),
    ((7,), (), "renamed/app", True),
    (("7",), (), "alice/app", False),
)
def test_only_the_named_are_served(
    owners: tuple[str | int, ...], listed: tuple[str, ...], name: str, *, served: bool
) -> None:
    told = {"folder": "x", "app_id": "1", "private_key_file": "x"}
    named = {"allowed_owners": owners, "repositories": listed}

    assert ServiceSettings.model_validate(told | named).serves(name, 7) is served


def test_networks_are_named_and_the_clients_secret_can_be_in_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("BRAT_CLIENT_ID", "Iv1.env")
    monkeypatch.setenv("BRAT_CLIENT_SECRET", "made-up-in-the-environment")
    bare = {name: each for name, each in DASHBOARD.items() if name[:6] != "client"}
    more = {"folder": "bot", "allowed_networks": NETWORKS, "trusted_proxies": 1}
    told = ServiceSettings.model_validate(bare | more)

    assert (told.client_id, told.client_secret[:7]) == ("Iv1.env", "made-up")
    assert "made-up" not in repr(told)
    hooks = tuple(map(ip_network, NETWORKS))
    assert told.origins == Origins(networks=hooks, proxies=1)


# --- how much may be started, and what is said when it is too much --------------------

NOW = int(datetime(2026, 1, 2, 12, 0, 0, tzinfo=UTC).timestamp() * 1000)
MINUTE_MS = 60_000
GENEROUS = Quota(person_hour=9, repository_hour=9, installation_hour=9, unfinished=9)


def state(*asked: tuple[str, int], ended: bool = True) -> State:
    plan = replace(
        Rules().planned(spec(1)).convoy, state="complete" if ended else "active"
    )
    convoys = {
        f"c{number}": replace(
            plan, name=f"c{number}", by=by, requested_at=NOW - ago * MINUTE_MS
        )
        for number, (by, ago) in enumerate(asked)
    }
    return State(convoys=Convoys(convoys))


OWN = state(("ann", 60), ("ann", 50), ("ann", 20), ("bob", 1))
HELD = state(("bob", 30), ("carol", 10))
OLD = state(("bob", 300), ("carol", 300), ended=False)
REACHED, AGAIN = "@ann has reached the limit of", "add the label again at"


@looped(
    ({"person_hour": 3}, OWN, None),
    ({"person_hour": 2}, OWN, f"{REACHED} 2 new convoys an hour: {AGAIN} 12:10 UTC."),
    ({"person_hour": 1}, OWN, f"{REACHED} 1 new convoy an hour: {AGAIN} 12:40 UTC."),
    ({"repository_hour": 2}, HELD, "This repository has reached the limit of 2"),
    ({"installation_hour": 3}, HELD, "This installation has reached the limit of 3"),
    ({"installation_hour": 3}, HELD, "at 12:20 UTC"),
    ({"unfinished": 3}, OLD, None),
    ({"unfinished": 2}, OLD, "has 2 unfinished convoys, which is the limit"),
    ({"person_hour": 0}, state(), "once the bot's operator raises the limit"),
)
def test_a_person_a_repository_and_an_installation_have_limits(
    quota: dict[str, int], held: State, told: str | None
) -> None:
    elsewhere = [NOW - 40 * MINUTE_MS]
    limits = GENEROUS.model_copy(update=quota)
    said = quota_refusal(limits, held, "ann", elsewhere, NOW)

    assert told in there(said) if told else said is None
