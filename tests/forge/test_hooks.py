"""Webhooks are never in the way: what they tell is in test_payloads."""

import socket

from tests.world.forge import REPO, Town, until
from tests.world.github_forge.webhooks import deliveries_in

SECRET = "not so secret"


async def test_a_receiver_that_is_gone_is_noted_and_holds_up_nothing(
    here: Town,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # accepts, never answers
        silent_url = f"http://127.0.0.1:{silent.getsockname()[1]}/"
        here.forge.add_hook(REPO, silent_url, SECRET)
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        gone = here.forge.add_hook(REPO, f"http://127.0.0.1:{port}/", SECRET)

        for _ in range(10):
            await here.issue()
        sent = deliveries_in(here.forge.store)
        await until(lambda: any(not one.pending for one in sent.of(gone.id)))
        assert {one.status_code for one in sent.of(gone.id)} == {0}
