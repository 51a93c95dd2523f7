"""What every test may count on: the plugins of tests/world, and repeatable examples."""

import os
import sys
from collections.abc import Iterator
from functools import cache

import httpx
import pytest
from hypothesis import HealthCheck, Phase, settings

pytest_plugins = [
    "pytester",
    "tests.world.tools",
    "tests.world.patience",
    "tests.world.layers",
    "tests.world.secret_sweep",
]

# No example is judged by the wall's clock.
patient = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
# A failure is found again, and nothing new is looked for: that is for the night.
settings.register_profile("ci", patient, derandomize=True, max_examples=25)
settings.register_profile("night", patient, max_examples=500)
settings.register_profile("deep", patient, max_examples=2000)
settings.register_profile(
    "mutants",  # a failure is enough, the smallest is not asked for
    patient,
    derandomize=True,
    max_examples=40,
    phases=(Phase.explicit, Phase.generate),
)
settings.load_profile("ci")  # `--hypothesis-profile=deep` looks further, at random


@pytest.fixture(scope="session", autouse=True)
def _our_environment_is_activated() -> Iterator[None]:
    """Let the projects of tests find `python` and `pytest`."""
    with pytest.MonkeyPatch.context() as patch:
        own = os.path.dirname(sys.executable)  # noqa: PTH120  as it stands, no link followed
        patch.setenv("PATH", os.pathsep.join((own, *os.get_exec_path())))
        yield


@pytest.fixture(scope="session", autouse=True)
def _authorities_are_read_once() -> Iterator[None]:
    """Let all clients share a TLS context: reading the authorities takes 20 ms each."""
    with pytest.MonkeyPatch.context() as patch:
        shared = cache(httpx.create_ssl_context)
        patch.setattr("httpx._transports.default.create_ssl_context", shared)
        yield
