"""Actions that the forge does not make idempotent: announced, done, noted as done.

What the forge refuses, or what fails again and again, keeps nothing else waiting: it is
set aside with its reason, for a minute at first, then for twice as long each time.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from convoy.events import ConvoyEvent, Event, Events, Refusal, copied
from convoy.model import ids
from convoy.model.records import NamedIssue, Reaction
from convoy.model.state import Convoy, Moment, State, Task, change_part, change_task
from convoy.model.work import GivenAnswers, Intent, ShownAnswer, of_last_hour


class ActionIntended(Event, frozen=True, kw_only=True, tag="action.intended"):
    """An action that is not idempotent on the forge is about to be carried out."""

    key: str
    kind: ids.ActionKind
    convoy: str = ""
    """The convoy; empty for an answer unrelated to any convoy."""
    task: int = 0
    attempt: int = 0
    issue: int = 0
    """For an answer: the issue or pull request where it is given."""
    comment: int = 0
    """For an answer: the comment it replies to; for a thread: its first comment."""
    reaction: Reaction = ""
    """For an answer: the reaction to that comment; for a thread, `confused` means that
    no change was made."""
    text: str = ""
    """For an answer: its text; empty: none, or the default. For a
    thread: the commit, or why no change was made."""
    by: str = ""
    """For an answer: who asked; empty: no one did."""
    enough: bool = False
    """For an answer: whether it says that the limit for answers is reached."""

    def sentence(self) -> str:
        does, _, thing = _sentence_parts(self.key)
        return f"Will {does} {thing}."

    def change(self, state: State) -> State:
        intents = {**state.intents, self.key: copied(Intent, self)}
        state = replace(state, intents=intents)
        if not self.by:
            return state
        now, known = state.moment.at, state.answers
        given = _with_answer(known, self.by, self.key, now, enough=self.enough)
        return replace(state, answers=given)


def _with_answer(
    known: dict[str, GivenAnswers], by: str, key: str, now: int, *, enough: bool
) -> dict[str, GivenAnswers]:
    """Return what everybody had within the hour before `now`, with one answer more.

    The names in `known` are in lower case; `enough`: the answer says that it is.
    """
    had = known.get(by.casefold(), GivenAnswers())
    if enough:
        had = replace(had, told=key, told_at=now, quiet=(*had.quiet, now))
    else:
        had = replace(had, at=had.at | {key: now})
    lately = {who: of_last_hour(each, now) for who, each in known.items()}
    lately[by.casefold()] = of_last_hour(had, now)
    return {who: each for who, each in lately.items() if each.at or each.quiet}


def pull_wanted(state: State, convoy: str, task: int) -> tuple[ActionIntended, ...]:
    """Announce a pull request, unless that was done; task 0 is the convoy's own."""
    key = ids.key("pull", convoy, task)
    if key in state.intents:
        return ()
    return (ActionIntended(key=key, kind="pull", convoy=convoy, task=task),)


def final_comment(convoy: str) -> ActionIntended:
    return ActionIntended(key=ids.key("finish", convoy), kind="finish", convoy=convoy)


class ActionDone(Event, frozen=True, kw_only=True, tag="action.done"):
    """The action was carried out.

    A pull request number of 0 means that none was needed: the branch has the work.
    """

    key: str
    number: int

    def sentence(self) -> str:
        _, done, thing = _sentence_parts(self.key)
        numbers = {"dispatch": ": run {}", "pull": ": #{}", "issue": ": #{}"}
        came = numbers.get(self.key.partition(":")[0], "") if self.number else ""
        return f"{done} {thing}{came.format(self.number)}."

    def decide(self, state: State) -> Events:
        intent = state.intents.get(self.key)
        if intent is None:
            raise Refusal(f"{self.key} is not an open action")
        if intent.kind != "comment" or not self.number:
            return (self,)
        name = intent.convoy
        issue = state.convoys[name].issue
        return (self, CommentSaid(convoy=name, issue=issue, comment=self.number))

    def change(self, state: State) -> State:
        intents = dict(state.intents)
        intent = intents.pop(self.key, None)
        aside = dict(state.set_aside)
        aside.pop(ids.item("action", self.key), None)
        state = replace(state, intents=intents, set_aside=aside)
        if intent is None:
            return state
        if intent.kind == "answer" and not intent.comment:
            return replace(state, heard=state.heard | {intent.key})
        if intent.kind == "answer":
            return replace(state, answered=state.answered | {intent.comment})
        return state.change_convoy(
            intent.convoy, lambda c: self._noted(c, intent, state.moment)
        )

    def _noted(self, convoy: Convoy, intent: Intent, now: Moment) -> Convoy:
        if intent.kind == "dispatch":

            def dispatched(task: Task) -> Task:
                attempt = task.attempt
                if attempt is None or attempt.number != intent.attempt:
                    return task
                runs = (*task.runs, self.number) if self.number else task.runs
                begun = replace(attempt, run=self.number, at=now.at)
                return replace(task, attempt=begun, runs=runs)

            return change_task(convoy, intent.task, dispatched)
        if intent.kind == "land":
            return replace(convoy, asked=intent.text)
        if intent.kind == "issue" and self.number:
            named = NamedIssue(intent.task, self.number)
            return replace(convoy, named=(*convoy.named, named))
        if intent.kind != "pull":
            return convoy
        pull = self.number or None if intent.task else self.number
        return change_part(convoy, intent.task, pull=pull)


class CommentSaid(ConvoyEvent, frozen=True, kw_only=True, tag="comment.said"):
    """The convoy's comment was posted on the issue; from now on it is edited."""

    SAYS = "Comment {comment} on issue #{issue} shows the convoy."
    issue: int
    comment: int

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        return replace(convoy, comment=self.comment)


ANSWERS_SHOWN_MOST: Final = 10
"""How many are kept, the newest: the comment does not grow for ever."""


class AnswerShown(ConvoyEvent, frozen=True, kw_only=True, tag="answer.shown"):
    """An answer is shown in the convoy's comment, not in a comment of its own."""

    SAYS = "Answered {by} in the convoy's comment: {text:clause}."
    by: str
    text: str
    issue: int
    """The issue or pull request where the request was made."""
    comment: int = 0
    """The comment with the request; 0: it was a review, a ticked box or a button."""

    def convoy_after(self, convoy: Convoy, _now: Moment) -> Convoy:
        shown = copied(ShownAnswer, self)
        return replace(convoy, answers=(*convoy.answers, shown)[-ANSWERS_SHOWN_MOST:])


def refuse_answered(state: State, key: str, comment: int) -> None:
    """Refuse to answer again what was answered, or is about to be."""
    if key in state.intents or key in state.heard or comment in state.answered:
        raise Refusal(f"{key} was already answered")


class Answer(Struct, frozen=True, kw_only=True):
    """Tell the author of a comment what was decided."""

    issue: int
    comment: int = 0
    """The comment; 0: it was the review or tick in `sign`."""
    sign: str = ""
    """A review or a tick: see `ids.sign_key`."""
    reaction: Reaction = ""
    text: str
    by: str = ""
    """Who asked, and so has one answer less; empty: nobody did."""
    enough: bool = False
    """Whether it says that it is enough for now."""
    convoy: str = ""
    """The convoy whose comment shows the text; empty: it is a comment of its own."""

    def decide(self, state: State) -> Events:
        key = self.sign or ids.key("answer", self.comment)
        refuse_answered(state, key, self.comment)
        text = "" if self.convoy else self.text
        intent = copied(
            ActionIntended, self, key=key, kind="answer", text=text, convoy=""
        )
        return (copied(AnswerShown, self), intent) if self.convoy else (intent,)


class RequestIgnored(Event, frozen=True, kw_only=True, tag="request.ignored"):
    """A comment, a review or a ticked box is ignored for good, without an answer."""

    by: str
    comment: int = 0
    """The comment; 0: it was the review or ticked box in `sign`."""
    sign: str = ""
    """The key of the review or ticked box; empty: it was a comment."""

    def sentence(self) -> str:
        said = _answered(self._key.partition(":")[2])
        return f"Ignored {said} by {self.by}, who has exceeded the limit for answers."

    @property
    def _key(self) -> str:
        return self.sign or ids.key("answer", self.comment)

    def decide(self, state: State) -> Events:
        refuse_answered(state, self._key, self.comment)
        return (self,)

    def change(self, state: State) -> State:
        if self.comment:
            return replace(state, answered=state.answered | {self.comment})
        return replace(state, heard=state.heard | {self.sign})


KEPT_MS: Final = 168 * ids.HOUR_MS
"""How long a delivery, or an item tried again, is remembered: a week."""


class ItemSetAside(Event, frozen=True, kw_only=True, tag="item.set-aside"):
    """An item is set aside and retried later; everything else continues."""

    SAYS = "Set {item} aside after it failed {tries:times}: {why:clause}."
    item: str
    """The item, such as `task/fix/3`."""
    why: str
    rule: str = ""
    """The kind of refusal; empty: a fault."""
    helps: str = ""
    """What a person can do about it."""
    passing: bool = False
    """Whether the problem is likely to resolve itself."""
    tries: int = 1
    """How many tries have failed."""

    def decide(self, state: State) -> Events:
        """Set it aside; a further try that fails makes the next wait longer."""
        before = state.aside_of(self.item)
        return (replace(self, tries=before.tries + 1 if before else 1),)

    def change(self, state: State) -> State:
        aside = copied(ids.SetAside, self, at=state.moment.at)
        # Deliveries, and items tried again, of long ago are forgotten.
        oldest = state.moment.at - KEPT_MS
        kept = {
            item: each
            for item, each in state.set_aside.items()
            if each.at > oldest
            or not (each.again or item.startswith(ids.DELIVERY_ITEM))
        }
        return _with_aside(replace(state, set_aside=kept), self.item, aside)


class ItemTakenUp(Event, frozen=True, kw_only=True, tag="item.taken-up"):
    """An item that was set aside is being retried, or has been found to work again."""

    item: str
    """The item, such as `task/fix/3`."""
    by: str = ""
    """Who asked for it; empty: the next try was due."""
    works: bool = False
    """Whether it was tried and works again."""
    when_free: bool = False
    """Whether it is a session that never started and now waits for a free slot."""

    def sentence(self) -> str:
        if self.works:
            return f"{self.item} works again."
        by = f", as {self.by} asked" if self.by else ""
        free = " as soon as a slot is free" if self.when_free else ""
        return f"Will try {self.item} again{free}{by}."

    def decide(self, state: State) -> Events:
        aside = state.aside_of(self.item)
        if aside is None or (aside.again and not self.works):
            raise Refusal(f"{self.item} is not set aside")
        part = ids.task_of_item(self.item)
        task = state.convoys[part[0]].task(part[1]) if part and part[1] else None
        attempt = task.attempt if task else None
        when_free = bool(self.by and attempt and attempt.run is None)
        return (replace(self, when_free=when_free),)

    def change(self, state: State) -> State:
        aside = state.aside_of(self.item)
        if aside is None:
            return state
        now = state.moment.at
        if self.when_free:
            aside = replace(aside, at=now - ids.MINUTE_MS, tries=1)
        elif self.works or self.by:
            aside = None
        else:
            aside = replace(aside, again=True, at=now)
        return _with_aside(state, self.item, aside)


def _with_aside(state: State, item: str, aside: ids.SetAside | None) -> State:
    part = ids.task_of_item(item)
    if part is None:
        rest = {name: each for name, each in state.set_aside.items() if name != item}
        return replace(state, set_aside=rest | ({item: aside} if aside else {}))
    name, task = part

    def marked(convoy: Convoy) -> Convoy:
        convoy = change_part(convoy, task, set_aside=aside)
        if aside is None or aside.again:
            return convoy
        if not task:  # what is kept back has no candidate
            convoy = replace(convoy, sync=replace(convoy.sync, candidate=None))
        return change_part(convoy, task, candidate=None)

    return state.change_convoy(name, marked)


def _sentence_parts(key: str) -> tuple[str, str, str]:
    """Return what is done as an infinitive, as a past, and the thing it is done to.

    A key that no function of `ids` makes is told as it is.
    """
    kind, _, name = key.partition(":")
    if kind not in _KEY_WORDS:
        return "do", "Did", key
    does, done, thing = _KEY_WORDS[kind]
    convoy, _, task = name.partition("/")
    try:
        whose, number, attempt = ids.parse_session(name)
        what = f"task {number} in {whose}" if number else f"the plan of {whose}"
        session = f"attempt {attempt} at {what}"
    except ValueError:
        session = f"session {name}"
    said = {
        "session": session,
        "asked": _answered(name),
        "convoy": convoy,
        "part": convoy if task == "0" else f"task {task} in {convoy}",
    }
    return does, done, thing.format(**said)


def _answered(name: str) -> str:
    what, _, rest = name.partition("/")
    return _ASKED_BY.get(what, "on an issue") if rest else f"comment {name}"


_ASKED_BY: Final = {
    "review": "a review",
    "tick": "a ticked box",
    "rerun": "a check that someone re-ran",
}
_KEY_WORDS: Final = {
    "dispatch": ("start", "Started", "{session}"),
    "pull": ("open", "Opened", "the pull request for {part}"),
    "issue": ("open", "Opened", "the sub-issue for {part}"),
    "land": ("ask", "Asked", "the forge to merge the pull request for {convoy}"),
    "comment": ("post", "Posted", "the comment for {convoy}"),
    "finish": ("report", "Reported", "on the issue that {convoy} has ended"),
    "notify": ("send", "Sent", "a notification about {convoy}"),
    "answer": ("answer", "Answered", "{asked}"),
    "thread": ("answer", "Answered", "a review comment on {convoy}"),
}
