"""Which effects of a round go first: answers and first comments, then sessions."""

from bot.forge.transport import Precedence
from bot.loop.loop import precedence_of
from convoy.model.records import ActionKind
from convoy.model.work import Intent
from convoy.owed import Do, Effect, Show


def intended(kind: ActionKind) -> Do:
    return Do(Intent(key=kind, kind=kind, convoy="fix-7", task=1, attempt=1))


def test_sessions_start_before_what_nobody_waits_for() -> None:
    wanted: list[Effect] = [
        Show("fix-7", "comment"),
        intended("pull"),
        intended("dispatch"),
        intended("comment"),
        intended("answer"),
    ]

    first, second, third, *rest = sorted(wanted, key=precedence_of)

    assert [first, second] == [intended("comment"), intended("answer")]
    assert third == intended("dispatch")
    assert {precedence_of(each) for each in rest} == {Precedence.REST}
