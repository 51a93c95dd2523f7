"""What a service is told before it starts: whom it serves, and where."""

from pathlib import Path

import pytest

from bot.settings.bot_settings import ServiceSettings
from grite.errors import BratError
from tests.bot.serving.hosted_town import hosting, running
from tests.world.forge import Town

pytestmark = pytest.mark.timeout(180)


async def test_without_a_secret_it_does_not_start(here: Town) -> None:
    with pytest.raises(BratError, match="anybody could send deliveries"):
        async with running(hosting(here, secret="")):
            pass


async def test_a_port_that_is_taken_is_said(here: Town) -> None:
    async with running(hosting(here)) as host:
        with pytest.raises(BratError, match="cannot listen on"):
            async with running(hosting(here, port=host.port)):
                pass


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"token": "x", "secret": "short"}, "at least 16 characters"),
        ({"token": "x"}, "required with a token"),
        ({"app_id": 1, "private_key_file": "x"}, "list the accounts"),
        ({"token": "x", "repositories": ["x"]}, "pattern"),
    ],
)
def test_settings_that_serve_anybody_are_refused(
    given: dict[str, object], said: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=said):
        ServiceSettings.model_validate({"folder": tmp_path, **given})


@pytest.mark.parametrize(
    ("owners", "listed", "name", "served"),
    [
        (("alice",), (), "Alice/App", True),
        (("alice",), (), "mallory/app", False),
        (("alice",), ("alice/app",), "alice/lib", False),
        ((), ("Alice/App",), "alice/app", True),
        (("alice",), (), "alice/..", False),
    ],
)
def test_only_the_named_are_served(
    owners: tuple[str, ...],
    listed: tuple[str, ...],
    name: str,
    served: bool,  # noqa: FBT001  a parameter of a test
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
