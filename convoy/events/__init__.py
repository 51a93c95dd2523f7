"""Every brat event: what happened, in the past tense, with all the fold needs.

A file holds what belongs to one subject: its events, each with its sentence and its
fold. An event is a frozen struct whose JSON form carries `v` and `type` (noun dot
participle). Every subclass that stands in another file than `fact` is a kind: the
codec, the fold and docs/log-format.md find it in `event_kinds`, which loads all of
them. A session loads only what it reads and writes.
"""

from convoy.events.fact import Claim, Event, Fact

__all__ = ["Claim", "Event", "Fact"]
