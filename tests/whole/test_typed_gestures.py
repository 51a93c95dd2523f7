"""A person's no on the forge, by its own buttons, while `brat up` runs in a terminal.

In each convoy of one repository another thing is closed, deleted, moved or taken off.
Then a colleague approves the work, and still it does not land.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from brat.forge.wire import node_id
from convoy.model import ids
from tests.whole.typed_story import AGENT, Typed
from tests.world.extended import extended
from tests.world.given_secrets import given
from tests.world.local_rules import ask, at_rest, bare_of, mutate, registered
from tests.world.terminal import left_running, new_terminal
from tests.world.words import engine

CONFIG: Final = engine(AGENT, "[refinery]\nrequire_ci = false\napprovals = 1\n")
COLLEAGUE: Final = "bea"
OTHER: Final = "pat-person/other"
HEALTHY: Final = "Go well"

pytestmark = pytest.mark.timeout(300)


@dataclass
class Buttons(Typed):
    """A person who uses the forge's own buttons, and a colleague who approves."""

    colleague: str = field(kw_only=True)
    """The colleague's token."""
    elsewhere: str = field(kw_only=True)
    """The node of another repository."""

    def pull(self, convoy: str) -> dict[str, Any]:
        """Return the pull request of a convoy's one task."""
        head = f"pat-person:{ids.task_branch(convoy, 1)}"
        path = f"pulls?state=all&head={head}"
        (found,) = ask(self.terminal, "GET", path) or [{}]
        return dict(found)

    def change(self, path: str, **to: str) -> None:
        """Change an issue or a pull request."""
        ask(self.terminal, "PATCH", path, to)

    def node(self, convoy: str) -> str:
        """Return the node of a convoy's issue."""
        issue = ask(self.terminal, "GET", f"issues/{self.issues[convoy]}")
        return str(issue["node_id"])

    def branch(self, name: str, commit: str = "") -> None:
        """Let a branch be at a commit; none: delete it."""
        if commit:
            new = {"ref": f"refs/heads/{name}", "sha": commit}
            ask(self.terminal, "POST", "git/refs", new)
        else:
            ask(self.terminal, "DELETE", f"git/refs/heads/{name}")

    def is_there(self, name: str) -> bool:
        """Whether there is such a branch."""
        git = f"git -C {bare_of(self.terminal)}"
        return bool(self.terminal.done(f"{git} branch --list {name}").strip())

    def approve(self, convoy: str) -> None:
        """Let the colleague approve the convoy's work."""
        pull = self.pull(convoy)
        said = {"body": f"/brat approve {pull['head']['sha']}"}
        path = f"issues/{pull['number']}/comments"
        ask(self.terminal, "POST", path, said, self.colleague)

    def comments(self, number: int) -> str:
        """Return what is said on an issue or pull request."""
        path = f"issues/{number}/comments?per_page=100"
        return "\n".join(each["body"] for each in ask(self.terminal, "GET", path))

    def states(self) -> dict[str, str]:
        """Return each convoy's state."""
        return {each["name"]: each["state"] for each in self.status()["convoys"]}


Does = Callable[[Buttons, str], None]


@dataclass(frozen=True, kw_only=True)
class Gesture:
    """What somebody does, and what is to be said of it."""

    does: Does
    state: str
    """The convoy's."""
    why: str
    """In the status."""
    waits: str = ""
    """The answer to `brat why`; empty: as `why`."""
    said: str
    """In a comment on the pull request; else on the issue, where that is there."""
    back: Does | None = None
    """What undoes it; None: nothing does."""
    issue_is_there: bool = True
    """Afterwards."""


def close_pull(here: Buttons, convoy: str) -> None:
    here.change(f"pulls/{here.pull(convoy)['number']}", state="closed")


def reopen_pull(here: Buttons, convoy: str) -> None:
    here.change(f"pulls/{here.pull(convoy)['number']}", state="open")


def delete_branch(here: Buttons, convoy: str) -> None:
    here.branch(ids.task_branch(convoy, 1))


def restore_branch(here: Buttons, convoy: str) -> None:
    here.branch(ids.task_branch(convoy, 1), here.pull(convoy)["head"]["sha"])
    reopen_pull(here, convoy)


def change_base(here: Buttons, convoy: str) -> None:
    here.change(f"pulls/{here.pull(convoy)['number']}", base="main")


def change_base_back(here: Buttons, convoy: str) -> None:
    base = ids.base_branch(convoy)
    here.change(f"pulls/{here.pull(convoy)['number']}", base=base)


def close_issue(here: Buttons, convoy: str) -> None:
    here.change(f"issues/{here.issues[convoy]}", state="closed")


def reopen_issue(here: Buttons, convoy: str) -> None:
    here.change(f"issues/{here.issues[convoy]}", state="open")


def delete_base(here: Buttons, convoy: str) -> None:
    here.branch(ids.base_branch(convoy))


def resume(here: Buttons, convoy: str) -> None:
    here.terminal.done(f"brat convoy resume {convoy}")
    here.until(lambda: here.states()[convoy] == "active", here.states)
    here.until(lambda: here.is_there(ids.base_branch(convoy)), here.states)
    reopen_pull(here, convoy)


def take_label_off(here: Buttons, convoy: str) -> None:
    path = f"issues/{here.issues[convoy]}/labels/brat:active"
    ask(here.terminal, "DELETE", path)


def delete_issue(here: Buttons, convoy: str) -> None:
    mutate(here.terminal, "deleteIssue", "repository { id }", issueId=here.node(convoy))


def transfer_issue(here: Buttons, convoy: str) -> None:
    given_to = {"issueId": here.node(convoy), "repositoryId": here.elsewhere}
    mutate(here.terminal, "transferIssue", "issue { id }", **given_to)


GESTURES: Final = {
    "Close its pull": Gesture(
        does=close_pull,
        state="active",
        why="pull request #{pull} was closed",
        said="this pull request was closed. Reopen this pull request",
        back=reopen_pull,
    ),
    "Delete its branch": Gesture(
        does=delete_branch,
        state="active",
        why="the branch of pull request #{pull} was deleted",
        said="Restore the branch and reopen this pull request",
        back=restore_branch,
    ),
    "Edit its base": Gesture(
        does=change_base,
        state="active",
        why="the base of pull request #{pull} was changed to main",
        said="Change the base back to `convoy/{convoy}/base`",
        back=change_base_back,
    ),
    "Close the issue": Gesture(
        does=close_issue,
        state="paused",
        why="issue #{issue} was closed",
        waits="it waits for issue #{issue} to be reopened, or /brat resume",
        said="Reopen the issue, or say `/brat resume`, and it goes on",
        back=reopen_issue,
    ),
    "Delete the base": Gesture(
        does=delete_base,
        state="paused",
        why="its branch convoy/{convoy}/base was deleted",
        said="`/brat resume` makes the branch again",
        back=resume,
    ),
    "Unlabel": Gesture(
        does=take_label_off,
        state="failed",
        why="cancelled: pat-person took the label off",
        said="@pat-person The convoy is cancelled, because you took its label off.",
    ),
    "Delete the issue": Gesture(
        does=delete_issue,
        state="failed",
        why="cancelled: issue #{issue} was deleted",
        said="The convoy is cancelled, because issue #{issue} was deleted.",
        issue_is_there=False,
    ),
    "Transfer the issue": Gesture(
        does=transfer_issue,
        state="failed",
        why="cancelled: issue #{issue} was transferred",
        said="The convoy is cancelled, because issue #{issue} was transferred.",
        issue_is_there=False,
    ),
}


def settled(folder: Path) -> Buttons:
    """Make a repository in which a colleague may write, beside another one."""
    terminal = extended(new_terminal(folder))
    files = {"README.md": "# Notes\n", ".brat/config.toml": CONFIG}
    terminal.commit("Begin", files)
    terminal.done("brat init")
    with at_rest(terminal) as forge:
        forge.add_user(COLLEAGUE)
        forge.grant(registered(terminal).repository, COLLEAGUE, "write")
        token = given(forge.add_token(COLLEAGUE))
        other = node_id("Repository", forge.add_repository(OTHER).id)
    return Buttons(terminal, colleague=token, elsewhere=other)


def files_on_main(here: Buttons) -> set[str]:
    """Return the convoys whose work is there."""
    git = f"git -C {bare_of(here.terminal)}"
    names = here.terminal.done(f"{git} ls-tree --name-only main").split()
    return {Path(name).stem for name in names if name.endswith(".txt")}


def check_told(here: Buttons, convoy: str, gesture: Gesture) -> None:
    """Check what status, `brat why` and a comment say of a gesture."""
    pull, issue = here.pull(convoy)["number"], here.issues[convoy]
    about = {"pull": pull, "issue": issue, "convoy": convoy}
    why, waits = gesture.why.format(**about), gesture.waits.format(**about)
    shown = here.status()
    if gesture.state == "failed":
        (found,) = (one for one in shown["convoys"] if one["name"] == convoy)
        assert found["why"] == why
    else:
        asked = [one for one in shown["interventions"] if one["convoy"] == convoy]
        assert any(one["why"].startswith(why) for one in asked), asked
    reasons = here.terminal.done(f"brat why pull-{pull}")
    assert (waits or why) in reasons
    said = here.comments(pull)
    if gesture.issue_is_there:
        said += here.comments(issue)
    assert said.count(gesture.said.format(**about)) == 1, said


def test_a_persons_no_by_the_forges_own_buttons_is_heard(tmp_path: Path) -> None:
    here = settled(tmp_path)

    with here.up():
        here.wants([*GESTURES, HEALTHY])
        by_name = {
            convoy: title
            for title, convoy in zip((*GESTURES, HEALTHY), here.issues, strict=True)
        }
        told = {c: GESTURES[t] for c, t in by_name.items() if t != HEALTHY}
        here.until(lambda: all(here.pull(c) for c in here.issues), here.status)
        for convoy, gesture in told.items():
            gesture.does(here, convoy)
        here.until(lambda: heard(here, told), here.status)
        for convoy in here.issues:
            here.approve(convoy)
        here.until(lambda: here.states()["go-well-9"] == "complete", here.status)
        assert here.terminal.type("brat status").status == 1
        for convoy, gesture in told.items():
            check_told(here, convoy, gesture)

        assert files_on_main(here) == {"go-well-9"}

        undone = {c: g.back for c, g in told.items() if g.back is not None}
        for convoy, back in undone.items():
            back(here, convoy)
        here.until(lambda: here.complete() == {*undone, "go-well-9"}, here.status)

        assert files_on_main(here) == {*undone, "go-well-9"}
    assert here.terminal.type("brat status").status == 0
    assert "Traceback" not in here.output
    assert left_running(tmp_path) == []


def heard(here: Buttons, told: dict[str, Gesture]) -> bool:
    """Whether the state of each is as it is to be."""
    waiting, states = here.waiting(), here.states()
    return all(
        states[convoy] == gesture.state
        and (gesture.state == "failed" or convoy in waiting)
        for convoy, gesture in told.items()
    )
