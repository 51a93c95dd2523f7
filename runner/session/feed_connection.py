"""The live feed of one session: output and work go out, messages come in."""

import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import NamedTuple

from grite import trusted_programs
from runner.feed.message_inbox import Inbox
from runner.inputs.job_inputs import Inputs
from runner.result.job_annotations import note


def _drop(_what: object) -> None:
    """Tell nobody."""


class LiveFeed(NamedTuple):
    """A session's outputs to its feed, and its inbox there."""

    show: Callable[[str], None] = _drop
    """Sends a piece of redacted output."""
    keep: Callable[[bytes], None] = _drop
    """Sends a bundle of saved work."""
    inbox: Inbox | None = None
    """Where people's messages come in; None: there is no feed."""


@contextmanager
def live_feed(inputs: Inputs) -> Iterator[LiveFeed]:
    """Connect to the feed while the block lasts, if the job has a feed it may use."""
    if inputs.feed is None:
        yield LiveFeed()
        return
    # These load HTTP, which takes time, so they are imported only here.
    from runner.feed.message_poller import MessagePoller
    from runner.feed.oidc_exchange import route_of
    from runner.feed.output_sender import OutputSender
    from runner.feed.work_sender import WorkSender

    route, why = route_of(inputs.feed, trusted_programs.folders())
    if route is None:
        note(inputs, f"the live feed is off: {why}", sys.stdout)
        yield LiveFeed()
        return
    with (
        closing(WorkSender(route)) as work_sender,
        closing(MessagePoller(route)) as inbox,
        OutputSender(route) as output_sender,
    ):
        yield LiveFeed(output_sender.show, work_sender.send, inbox)
