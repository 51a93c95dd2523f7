"""Calls people with one new comment: whom it asks, what waits, how to answer."""

from bot.repository.draft import Draft
from bot.roles.authorization import is_login
from bot.text.notices import call_notice, call_text
from convoy.owed import Call
from convoy.rules.people import CallPeople


def call(draft: Draft, action: Call) -> None:
    """Announce the comment that calls the person who answers for the convoy."""
    convoy = draft.state.convoys[action.convoy]
    by = convoy.vouched_by or convoy.by
    is_person = is_login(by) and not by.endswith("[bot]")
    draft.submit(
        CallPeople(
            convoy=convoy.name,
            text=call_text(convoy, action.needs, by if is_person else ""),
            now=draft.now,
            notice=call_notice(convoy, action.needs),
        )
    )
