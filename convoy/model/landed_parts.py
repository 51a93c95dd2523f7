"""What of a convoy is on its target already, while other tasks go on."""

from msgspec import Struct


class Parts(Struct, frozen=True, kw_only=True):
    """The parts that have landed, and whether somebody asks for another one."""

    branch: str = ""
    """The branch by whose pull request the next part lands; empty: the forge merges
    none now."""
    asked_by: str = ""
    """Who asked for a part that has not landed yet; empty: nobody."""
    tasks: tuple[int, ...] = ()
    """The tasks whose work is on the target."""
    count: int = 0
    """How many parts have landed."""
    tip: str = ""
    """The commit of the convoy's branch that the newest part brought."""
    commit: str = ""
    """The commit of the target as which that part landed."""
    left: str = ""
    """The commit of the convoy's branch that could not land; empty: the last could."""
    why: str = ""
    """Why it could not."""
