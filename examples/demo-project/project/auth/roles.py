"""Roles, from the one that may least to the one that may most."""

ROLES = ("viewer", "editor", "admin")


class UnknownRole(ValueError):
    """There is no role of that name."""


def allows(role: str, needed: str) -> bool:
    """Say whether somebody with `role` may do what `needed` may.

    Raises:
        UnknownRole: one of them is not in `ROLES`.
    """
    for name in (role, needed):
        if name not in ROLES:
            raise UnknownRole(name)
    return role >= needed
