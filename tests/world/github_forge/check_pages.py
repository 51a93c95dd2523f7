"""The button under a check, which a person presses on the forge's page of it.

No API presses it. https://docs.github.com/webhooks/webhook-events-and-payloads#check_run
"""

from dataclasses import dataclass

from aiohttp import web

from brat.forge.service.running_forge import Service
from tests.world.github_forge.sign_in import signed_in


@dataclass(frozen=True)
class CheckPages:
    """The pages of one forge's checks."""

    service: Service

    def routes(self) -> list[web.RouteDef]:
        """Return the form's address."""
        return [web.post("/{owner}/{name}/runs/{check:\\d+}/press", self._press)]

    async def _press(self, request: web.Request) -> web.Response:
        store, named = self.service.forge.store, request.match_info
        user = signed_in(self.service.forge, request)
        check = store.check_runs.get(int(named["check"]))
        repo = store.repositories.get(check.repo) if check else None
        form = await request.post()
        pressed = str(form.get("identifier", ""))
        if user is None or check is None or repo is None:
            raise web.HTTPNotFound(text="There is no such check.\n")
        if pressed not in {each.identifier for each in check.actions}:
            raise web.HTTPUnprocessableEntity(text="There is no such button.\n")
        with store.change():
            self.service.events.check_run(
                repo, user, "requested_action", check, pressed
            )
        return web.Response(status=204)
