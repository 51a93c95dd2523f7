"""REST: what webhooks sent.

https://docs.github.com/en/rest/repos/webhooks
"""

from typing import Any

from brat.forge.rest.rest_call import (
    MOST_PER_PAGE,
    PER_PAGE,
    Answer,
    Call,
    Route,
)
from tests.world.github_forge.webhooks import (
    Delivery,
    asked_hook,
    kept_in,
)


def delivery(one: Delivery) -> dict[str, Any]:
    return {
        "id": one.id,
        "guid": one.guid,
        "delivered_at": one.created_at,
        "redelivery": False,
        "duration": one.duration_s,
        "status": one.status,
        "status_code": one.status_code,
        "event": one.event,
        "action": one.action,
        "installation_id": one.installation,
        "repository_id": one.repo,
    }


# --- deliveries -----------------------------------------------------------------------


async def list_deliveries(call: Call) -> Answer:
    known = kept_in(call.store).deliveries.of(asked_hook(call).id)
    ended = [one for one in reversed(known) if not one.pending]
    return listed(call, ended)


def listed(call: Call, known: list[Delivery]) -> Answer:
    """Return a page of deliveries: a cursor leads on, which is the last one's id."""
    cursor, size = call.asked("cursor"), call.asked("per_page")
    most = int(size) if size.isdecimal() else PER_PAGE
    most = min(max(most, 1), MOST_PER_PAGE)
    if cursor.isdecimal():
        known = [one for one in known if one.id < int(cursor)]
    wanted = call.asked("status")
    if wanted:
        known = [one for one in known if _worked(one) == (wanted == "success")]
    shown, headers = known[:most], dict[str, str]()
    if len(known) > most:
        onward = call.request.rel_url.update_query(cursor=shown[-1].id)
        headers["Link"] = f'<{call.site.base}{onward}>; rel="next"'
    return Answer([delivery(one) for one in shown], headers=headers)


def _worked(one: Delivery) -> bool:
    return 200 <= one.status_code < 400


_HOOKS = "/repos/{owner}/{repo}/hooks"
_ONE = _HOOKS + r"/{hook:\d+}"
HOOK_ROUTES = (Route("GET", _ONE + "/deliveries", list_deliveries, "admin"),)
