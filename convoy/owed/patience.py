"""How long the bot waits for a forge."""

from msgspec import Struct


class Patience(Struct, frozen=True, kw_only=True):
    """How long to wait for the forge."""

    session_slack_s: int = 120
    """Time beyond a session's own timeout before its run is cancelled."""
    force_s: int = 600
    """Time after that before the run is forced to end; until then it may hand in what
    it has."""
    sync_s: int = 300
    """How often at most a target that keeps moving is taken in, before the last task
    has merged."""
    check_start_s: int = 600
    """Time until the first check must have reported on a candidate."""
