"""Nothing that an agent tries wins in the runner's image."""

import pytest

from tests.attacks.in_containers import OPTIONS, in_a_container

pytestmark = pytest.mark.timeout(240)


@pytest.mark.parametrize("where", OPTIONS)
def test_nothing_is_won_in_a_container(where: str) -> None:
    told = in_a_container(*OPTIONS[where])

    assert len(told) > 40
    assert {name: each.won for name, each in told.items() if each.won} == {}
