"""Every name that two parts of brat must spell alike: issues, refs, keys, items.

Pure. A grite issue has no name of its own, so its id is the BLAKE2b-128 hash of a text
that says what it is for: whoever knows the convoy's name finds its events.

An *item* is what is handled alone: a convoy, a task, an announced action, a delivery,
an issue, a run, a check. Its name says which: `task/fix/3`. What the forge refuses, or
what fails again and again, is set aside by that name.
"""

import hashlib
import re
from typing import Final, Literal

from msgspec import Struct

HEADS: Final = "refs/heads/"
"""The part of a branch's ref before its name."""
QUEUE: Final = "brat/queue/"
"""The beginning of the branches that show candidates to CI."""
ActionKind = Literal[
    "dispatch",
    "pull",
    "land",
    "comment",
    "finish",
    "answer",
    "thread",
    "notify",
    "issue",
]
"""What the log announces before the forge is asked for it."""
_SESSION = re.compile(
    r"([a-z0-9][a-z0-9-]{0,39})/(0|[1-9][0-9]{0,8})/([1-9][0-9]{0,8})"
)
_BRANCH = re.compile(
    r"convoy/([a-z0-9][a-z0-9-]{0,39})/(?:base|part-[1-9][0-9]*|task-([1-9][0-9]{0,8}))"
)
_CHECK = "brat:check:"
CONVOY_CHECK_NAME = "brat (convoy)"
_CHECK_NAME = re.compile(r"brat \((?:convoy|task-[0-9]+)\)")
_LOGIN: Final = re.compile(r"[A-Za-z0-9-]+(\[bot\])?")
"""Any other name stands for whoever runs the bot, who needs no right."""
_MARKER = re.compile(r"<!-- brat:key=([a-z0-9:/-]+) -->")


def is_login(by: str) -> bool:
    """Whether `by` is an account on the forge, not a name for whoever runs the bot."""
    return _LOGIN.fullmatch(by) is not None


def _issue(text: str) -> bytes:
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def repository_issue() -> bytes:
    return _issue("brat:repository")


def issue_of(convoy: str, task: int) -> bytes:
    """Return the id of a task's issue, or of the convoy's where there is no task."""
    return _issue(f"brat:task:{convoy}/{task}" if task else f"brat:convoy:{convoy}")


def session_name(convoy: str, task: int, attempt: int) -> str:
    """Return the name of one attempt, as in run names: `<convoy>/<task>/<attempt>`."""
    return f"{convoy}/{task}/{attempt}"


def parse_session(text: str) -> tuple[str, int, int]:
    """Return the convoy, the task and the attempt in a session's name.

    Raises:
        ValueError: it is no session's name; the message is one sentence for people.
    """
    found = _SESSION.fullmatch(text)
    if found is None:
        raise ValueError(
            f"{text[:80]!r} is not the name of a session; give <convoy>/<task>/"
            "<attempt>, such as fix-login-7/2/1."
        )
    return found[1], int(found[2]), int(found[3])


def base_branch(convoy: str) -> str:
    return f"convoy/{convoy}/base"


def task_branch(convoy: str, task: int) -> str:
    return f"convoy/{convoy}/task-{task}"


def branch_of(convoy: str, task: int) -> str:
    """Return a task's branch, or for 0 the one that all share."""
    return task_branch(convoy, task) if task else base_branch(convoy)


def attempt_ref(convoy: str, task: int, attempt: int) -> str:
    """Return the ref that keeps the work of an attempt that did not land."""
    return f"refs/grite/attempts/{convoy}/{task}/{attempt}"


def attempt_refs(convoy: str, task: int, attempt: int, commit: str) -> tuple[str, str]:
    """Return the two refs that may keep a commit of an attempt.

    The second is used when the first already keeps another commit.
    """
    ref = attempt_ref(convoy, task, attempt)
    return ref, f"{ref}-{commit[:12]}"


def queue_branch(target: str, commit: str) -> str:
    """Return the branch that shows a candidate for `target` to CI."""
    return f"{QUEUE}{target.replace('/', '--')}/{commit}"


def clashing(branch: str) -> str:
    """Return which refs a branch of this name stands in the way of; empty: none.

    A branch that begins with `refs/` is taken for the ref of that name.
    """
    for own in (QUEUE, "convoy/", "refs/"):
        if f"{branch}/".startswith(own) or own.startswith(f"{branch}/"):
            return f"{own}*"
    return ""


def key(kind: ActionKind | Literal["schedule"], *names: str | int) -> str:
    """Return the key by which an action is found again; task 0 is the convoy."""
    return f"{kind}:{'/'.join(map(str, names))}"


def comment_key(convoy: str, deleted: int = 0) -> str:
    return f"comment:{convoy}/{deleted + 1}" if deleted else f"comment:{convoy}"


def check_key(convoy: str, task: int, attempt: int) -> str:
    """Return the key of the check that shows accepted work; task 0 is the convoy's."""
    return f"{_CHECK}{convoy}/{task}/{attempt}"


def checked_task(text: str) -> tuple[str, int] | None:
    """Return the convoy and task of a check's external id; None: it is not a bot's."""
    found = _SESSION.fullmatch(text.removeprefix(_CHECK))
    return (found[1], int(found[2])) if found and is_check_key(text) else None


def task_of_branch(branch: str) -> tuple[str, int] | None:
    """Return the convoy and task (0: the convoy) whose work a branch carries."""
    found = _BRANCH.fullmatch(branch)
    return (found[1], int(found[2] or 0)) if found else None


def is_check_key(text: str) -> bool:
    """Whether a check's external id says that a bot made it."""
    return text.startswith(_CHECK)


def task_check_name(task: int) -> str:
    return f"brat (task-{task})"


def is_check_name(text: str) -> bool:
    """Whether a commit status's context says that a bot made it."""
    return _CHECK_NAME.fullmatch(text) is not None


def sign_key(kind: str, name: str) -> str:
    """Return the key under which a review (by id) or a tick (by delivery) is answered.

    Raises:
        ValueError: `name` has other characters than a key may have.
    """
    key = f"answer:{kind}/{name.casefold()}"
    if keys_in(marker(key)) != (key,):
        raise ValueError(f"{name[:80]!r} cannot be part of a key")
    return key


def marker(key: str) -> str:
    """Return the hidden line by which a text on the forge is found again."""
    return f"<!-- brat:key={key} -->"


def without_markers(text: str) -> str:
    """Return a text of the forge as people see it, its hidden lines left out."""
    return _MARKER.sub("", text).strip()


def keys_in(text: str) -> tuple[str, ...]:
    return tuple(_MARKER.findall(text))


MINUTE_MS: Final = 60_000
HOUR_MS: Final = 3_600_000
CONVOY_ITEM: Final = "convoy/"
TASK_ITEM: Final = "task/"
DELIVERY_ITEM: Final = "delivery/"

FOR_EVER: Final = frozenset({"gone", "moved"})
"""The rules of refusals that hardly any later try changes."""
GIVEN_UP: Final = 6
"""After how many tries what is gone for ever is left alone: about an hour."""


class SetAside(Struct, frozen=True, kw_only=True):
    why: str
    """One sentence: what was refused, and what was said."""
    rule: str = ""
    """Which kind of refusal it is, such as `secret-found`; empty: a fault."""
    helps: str = ""
    """What a person can do about it; may be empty."""
    passing: bool = False
    """Whether it may well go away by itself: nobody is called for it."""
    at: int
    """When it was last tried, unix ms."""
    tries: int = 1
    """How often it was tried in vain."""
    again: bool = False
    """Whether it is being tried again: then nothing keeps it back."""

    @property
    def back(self) -> str:
        """What must happen for it to go on: `it waits for …`."""
        return f"a retry: {self.why}"

    @property
    def is_given_up(self) -> bool:
        """Whether it was refused often enough by what is gone for ever."""
        return self.rule in FOR_EVER and self.tries >= GIVEN_UP

    @property
    def due(self) -> int:
        """When it is tried again by itself, unix ms: each wait is twice the last."""
        return self.at + min(MINUTE_MS << min(self.tries - 1, 6), HOUR_MS)


def task_item(convoy: str, task: int) -> str:
    """Return the name of a task as an item; task 0 is the convoy."""
    return f"{TASK_ITEM}{convoy}/{task}" if task else item("convoy", convoy)


ItemKind = Literal[
    "convoy", "action", "show", "look", "run", "pull", "check", "issue", "delivery"
]


def item(kind: ItemKind, *names: str | int) -> str:
    """Return the name of an item; of a task `task_item` does."""
    return "/".join(map(str, (kind, *names)))


_NUMBER: Final = re.compile("[0-9]{1,9}")
LOG_ITEM: Final = "log"
"""The item of what no other item needs: events, leases, checkpoints."""
SWEEP_ITEM: Final = "sweep"
"""The item that is the deletion of branches nobody needs."""


def task_of_item(item: str) -> tuple[str, int] | None:
    """Return the convoy and task (0: the convoy) that an item is; None: neither.

    A log may hold any text as an item's name.
    """
    if item.startswith(CONVOY_ITEM):
        return item.removeprefix(CONVOY_ITEM), 0
    if item.startswith(TASK_ITEM):
        convoy, _, task = item.removeprefix(TASK_ITEM).rpartition("/")
        return (convoy, int(task)) if _NUMBER.fullmatch(task) else None
    return None
