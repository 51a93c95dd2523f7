"""Says in words what an action with a key does, before and after it was done. Pure."""

from collections.abc import Callable, Mapping
from typing import Final

from convoy.model import ids


def will_do(key: str) -> str:
    """Return the sentence that the action is about to be done.

    Args:
        key: the action's, made by one of the functions of `ids`; anything else is
            told as it is.
    """
    does, _, thing = _parts(key)
    return f"Will {does} {thing}."


def did(key: str, number: int) -> str:
    """Return the sentence that the action was done.

    Args:
        key: as for `will_do`.
        number: the workflow run, pull request or comment that came of it; 0: none.
    """
    _, done, thing = _parts(key)
    came = {"dispatch": f": run {number}", "pull": f": #{number}"}
    shown = came.get(key.partition(":")[0], "") if number else ""
    return f"{done} {thing}{shown}."


def _parts(key: str) -> tuple[str, str, str]:
    """Return what is done as an infinitive, as a past, and the thing it is done to."""
    kind, _, name = key.partition(":")
    if kind not in _KINDS:
        return "do", "Did", key
    does, done, thing = _KINDS[kind]
    return does, done, thing(name)


def _session(name: str) -> str:
    try:
        convoy, task, attempt = ids.parse_session(name)
    except ValueError:
        return f"session {name}"
    what = f"task {task} in {convoy}" if task else f"the plan of {convoy}"
    return f"attempt {attempt} at {what}"


def _pull(name: str) -> str:
    convoy, _, task = name.partition("/")
    whose = convoy if task == "0" else f"task {task} in {convoy}"
    return f"the pull request of {whose}"


def _answered(name: str) -> str:
    what, _, rest = name.partition("/")
    return _ASKED.get(what, "on an issue") if rest else f"comment {name}"


def _of_convoy(thing: str) -> Callable[[str], str]:
    return lambda name: thing.format(name.partition("/")[0])


_ASKED: Final = {
    "review": "a review",
    "tick": "a ticked box",
    "rerun": "a check that somebody ran again",
}
_KINDS: Final[Mapping[str, tuple[str, str, Callable[[str], str]]]] = {
    "dispatch": ("start", "Started", _session),
    "pull": ("open", "Opened", _pull),
    "land": ("ask", "Asked", _of_convoy("the forge to merge the pull request of {}")),
    "comment": ("post", "Posted", _of_convoy("the comment of {}")),
    "finish": ("say", "Said", _of_convoy("on its issue that {} is over")),
    "notify": ("send", "Sent", _of_convoy("a notification about {}")),
    "answer": ("answer", "Answered", _answered),
}
