"""Requests by button, API and command line, as the verb table offers them. Pure."""

from bot.verbs.parsing import cleaned
from bot.verbs.verb import Endpoint, NotPossible, Request
from bot.verbs.verb_table import BY_CONVOY_WORD, BY_NAME, BY_TASK_WORD
from convoy.model.state import Convoy, Task
from grite.errors import BratError


class NoSuchWord(BratError):
    """The verb table has no such endpoint."""


def request_of(word: str, task: int = 0, text: str = "") -> Request:
    """Return the request for an endpoint's word; hostile text takes seconds.

    Args:
        word: the endpoint's word, such as `stop`.
        task: the task's number in its convoy; 0: the request is about the convoy.
        text: the text with the request; ignored where the verb takes none.

    Raises:
        NoSuchWord: no endpoint has this word.
        NotPossible: the text is missing.
    """
    words = BY_TASK_WORD if task else BY_CONVOY_WORD
    if word not in words:
        raise NoSuchWord(f"there is no {word}; there are {', '.join(words)}")
    verb = words[word]
    said = cleaned(text) if verb.text != "none" else ""
    if verb.text == "must" and not said.strip():
        raise NotPossible(f"{word} needs a text")
    return Request(verb.name, {"task": task} if task else {}, said)


def endpoint_of(request: Request) -> Endpoint:
    """Return the endpoint of a request that came from one."""
    verb = BY_NAME[request.verb]
    found: Endpoint | None = (
        verb.of_task if "task" in request.arguments else verb.of_convoy
    )
    if found is None:
        raise NoSuchWord(f"{verb.name} can only be said in a comment")
    return found


def task_buttons(task: Task) -> tuple[str, ...]:
    """Return the words of the buttons that a task shows now."""
    ends = ((word, verb.of_task) for word, verb in BY_TASK_WORD.items())
    return tuple(word for word, end in ends if end and end.button(task))


def convoy_buttons(convoy: Convoy) -> tuple[str, ...]:
    """Return the words of the buttons that a convoy shows now."""
    ends = ((word, verb.of_convoy) for word, verb in BY_CONVOY_WORD.items())
    return tuple(word for word, end in ends if end and end.button(convoy))
