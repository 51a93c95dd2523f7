import pytest

from auth.roles import ROLES, UnknownRole, allows


@pytest.mark.parametrize("role", ROLES)
def test_a_role_may_do_what_it_may(role: str) -> None:
    assert allows(role, role)


def test_a_viewer_may_not_do_what_an_admin_may() -> None:
    assert not allows("viewer", "admin")


def test_a_role_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UnknownRole, match="owner"):
        allows("owner", "viewer")
