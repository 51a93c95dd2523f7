"""`brat setup`: prepare a repository on GitHub for brat, or take that back.

It shows the steps, does them once the person agrees, and reads each one back.

The workflow files are proposed by a pull request, or written into the checkout. Nothing
is pushed to the default branch. The commit is made beside the checkout, whose files and
branches stay as they are.

What takes a step back is a step, too, beside the one that it takes back. What people
made or changed stays.
"""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

import pygit2
from pygit2.enums import FileMode

from bot.forge import transport
from bot.forge.payloads import Payload, Repository
from bot.forge.pulls import PullRequests
from bot.forge.refusals import refusal_of_push, refusal_of_rest
from bot.forge.rest import Refused, Rest
from bot.forge.transport import DEADLINE_S
from bot.serving.examination import text_at
from brat.local import local_mode
from brat.repository import checkout as checkouts
from brat.repository.remote_forge import origin_of, token_for
from brat.repository.workflow_files import (
    FOLDER,
    UNPINNED,
    Differs,
    compare,
    installed_from,
    is_ours,
    needed,
    proposed,
    write_missing,
)
from brat.setup import secret_steps, steps
from brat.setup.steps import BRANCH, Look, Place, Step, for_a_person, owed, wanted
from brat.terminal.console import agrees, say, typed_key
from grite import git
from grite.errors import BratError, GitFailed
from grite.outbound import here
from grite.push_answer import push_answer
from grite.signatures import SIGNERS_FILE

_MARKS: Final = {"wanted": "ok  ", "owed": "do  ", "by hand": "hand"}


async def brought_about(
    plan: Sequence[Step], web: str, ends: tuple[str, str], *, yes: bool
) -> int:
    """Do the steps in order, once the person agrees; return 1 if something is left.

    `ends` is said where nothing is left: after changes, and without any; `yes`: they
    have agreed.

    Safe to call again, also after a call that was cut off: each step is looked at
    before anything is done, and what is as wanted is left alone.
    """
    looks = [await _seen(step, web) for step in plan]
    for look in looks:
        say(f"  {_MARKS[look.state]}  {look.said}")
    todo = [
        step for step, look in zip(plan, looks, strict=True) if look.state == "owed"
    ]
    if not todo:
        return _end(looks, ends[1])
    if not agrees("apply this plan?", yes=yes):
        say("nothing was changed")
        return 1
    for step in todo:
        try:
            await step.do()
        except BratError as error:
            after = _told(step, error, web)
        else:
            after = await _seen(step, web)
            if after.state == "owed":  # what was read back
                said = "the forge accepted the change, but it had no effect"
                after = for_a_person(f"{said}: {step.by_hand}")
        looks[plan.index(step)] = after
        say(f"  {_MARKS[after.state]}  {after.said}")
    return _end(looks, ends[0])


async def _seen(step: Step, web: str) -> Look:
    """Look; what may not be seen is a person's to do."""
    try:
        return await step.look()
    except Refused as refused:
        return _told(step, refused, web)


_EXCLUDE: Final = (
    "exempt the branches that brat creates from your rules, then try again"
)


def _told(step: Step, error: BratError, web: str) -> Look:
    """Return what a person does instead, why, and on which page."""
    hand, page, why, refusal = step.by_hand, step.page, str(error), None
    if isinstance(error, Refused):
        refusal = refusal_of_rest(error)
        said = refusal.why.partition(": ")[2].rstrip(".")
        why = f"the forge answered {error.status}: {said}"
    elif isinstance(error, GitFailed):
        refusal = refusal_of_push(push_answer((), "", error.stderr).said, "")
    if refusal and refusal.rule == "rule-violation":
        hand, page = _EXCLUDE, "settings/rules"
        why = why if isinstance(error, Refused) else refusal.why.rstrip(".")
    where = f": {web}/{page}" if web and page else ""
    return for_a_person(f"{hand} ({why}){where}")


def _end(looks: Sequence[Look], said: str) -> int:
    left = sum(look.state != "wanted" for look in looks)
    if left:
        say(f"{left} left to do by hand: do the steps marked hand, then run this again")
        return 1
    say(said)
    return 0


_TITLE: Final = "Set up brat"


def compared_files(found: Mapping[str, bool]) -> Look:
    """Return what is owed of files that are all there, by whether they are as ours."""
    other = [name for name in found if not found[name]]
    if not other:
        return wanted(f"brat's workflow files exist: {', '.join(found)}")
    return for_a_person(
        f"these files differ from this version's and stay: {', '.join(other)}; to "
        "replace a file, remove it and try again"
    )


def setup_body(looks: Sequence[tuple[Step, Look]], web: str) -> str:
    """Return what the pull request says: what was found, will happen, and is left."""
    found = [f"- {look.said}" for _, look in looks if look.state == "wanted"]
    left = [
        f"- [ ] {look.said} ([settings]({web}/{step.page}))"
        for step, look in looks
        if look.state != "wanted"
    ]
    after = (
        "Once this pull request is merged, brat works only on issues labelled `brat`. "
        f'The first, "{steps.READY}", has one small task, and brat reports the result '
        "there. If you do not want brat, close this pull request."
    )
    parts = ["### Already in place", "\n".join(found), "### What will happen", after]
    if left:
        parts += ["### What you need to do", "\n".join(left)]
    return "\n\n".join(parts)


class LocalFilesStep(Step):
    async def look(self) -> Look:
        found = self._found()
        missing = [each.name for each in found if not each.is_there]
        if missing:
            return owed(f"write {', '.join(missing)} into {FOLDER}")
        return compared_files({each.name: each.is_ours for each in found})

    async def do(self) -> None:
        write_missing(self._place.checkout, self._found())

    def _found(self) -> Sequence[Differs]:
        return compare(self._place.checkout, needed(self._place.checkout))


class LocalUndo(Step):
    async def look(self) -> Look:
        there = ", ".join(self._ours())
        if not there:
            return wanted(f"{FOLDER} contains no files from brat setup")
        return owed(f"delete {there} in {FOLDER}")

    async def do(self) -> None:
        for name in self._ours():
            (self._place.checkout.top / FOLDER / name).unlink()

    def _ours(self) -> list[str]:
        """Return what is as setup writes it; what people changed stays."""
        checkout = self._place.checkout
        found = compare(checkout, needed(checkout))
        return [each.name for each in found if each.is_ours]


class WorkflowStep(Step):
    """Proposes the files that are missing on the default branch."""

    page = "pulls"
    by_hand = (
        "run `brat setup --local`, then commit and push the files yourself (the token "
        "needs permission to write workflows)"
    )

    def __init__(self, place: Place, others: Sequence[Step]) -> None:
        super().__init__(place)
        self._others, self._web = others, place.origin.web
        self._names = needed(place.checkout)
        self._url = f"{self._web}.git"
        self._env = here().for_git() | git.authorization(place.token)
        self._pulls = PullRequests(place.rest, place.origin.repository)
        self._repository = pygit2.Repository(str(place.checkout.top))

    async def look(self) -> Look:
        base, head = await asyncio.to_thread(self._heads)
        known = await self._pulls.of(BRANCH, self._place.branch)
        there, ours = self._texts(base), self._texts(head) if head else {}
        missing = [name for name in self._names if name not in there]
        if not missing:
            return compared_files({each: is_ours(each, there[each]) for each in there})
        listed = ", ".join(missing)
        if any(name not in ours for name in missing):
            return owed(f"propose {listed} in a pull request from {BRANCH}")
        if known is None or known.state != "open":
            return owed(f"open a pull request from {BRANCH} with {listed}")
        note = "" if installed_from() else f"; {UNPINNED}"
        merge = f"merge pull request #{known.number}"
        return for_a_person(f"{merge}: it contains {listed}{note}")

    async def do(self) -> None:
        """Push the branch, unless it is there, and open its pull request."""
        base, head = await asyncio.to_thread(self._heads)
        lacks = set(self._names) - set(self._texts(base))
        if not head or lacks - set(self._texts(head)):
            signers = await steps.Variable(self._place, secret_steps.SIGNERS).value()
            made = self._commit(head or base, signers)
            await asyncio.to_thread(
                self._git, "push", "--quiet", self._url, f"{made}:refs/heads/{BRANCH}"
            )
        known = await self._pulls.of(BRANCH, self._place.branch)
        if known is None or known.state != "open":
            looks = [(each, await _seen(each, self._web)) for each in self._others]
            body = setup_body(looks, self._web)
            await self._pulls.open(_TITLE, body, head=BRANCH, base=self._place.branch)

    def _heads(self) -> tuple[str, str]:
        """Fetch the default branch and ours; ours is empty if it has landed."""
        names = [f"refs/heads/{name}" for name in (self._place.branch, BRANCH)]
        told = self._git("ls-remote", self._url, *names).splitlines()
        found = {name: commit for commit, name in (line.split("\t") for line in told)}
        if names[0] not in found:
            raise BratError(f"{self._url} has no branch {self._place.branch}")
        there = [name for name in names if name in found]
        fetch = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head")
        self._git(*fetch, self._url, *there)
        base, head = found[names[0]], found.get(names[1], "")
        landed = head and (head == base or self._repository.descendant_of(base, head))
        return base, "" if landed else head

    def _texts(self, commit: str) -> dict[str, str]:
        tree = self._repository[commit].peel(pygit2.Tree)
        texts = {}
        for name in self._names:
            if f"{FOLDER}/{name}" in tree:
                blob = tree[f"{FOLDER}/{name}"]
                if isinstance(blob, pygit2.Blob):
                    texts[name] = blob.data.decode(errors="replace")
        return texts

    def _commit(self, parent: str, signers: str) -> str:
        """Return a commit with the files that its parent lacks."""
        index = pygit2.Index()
        index.read_tree(self._repository[parent].peel(pygit2.Tree))
        texts = {
            f"{FOLDER}/{name}": proposed(self._place.checkout, name)
            for name in set(self._names) - set(self._texts(parent))
        }
        if signers and SIGNERS_FILE not in index:
            texts[SIGNERS_FILE] = f"{signers}\n"
        for path, text in texts.items():
            blob = self._repository.create_blob(text.encode())
            index.add(pygit2.IndexEntry(path, blob, FileMode.BLOB))
        try:
            who = self._repository.default_signature
        except KeyError:
            said = "git does not know your name: set user.name and user.email"
            raise BratError(said) from None
        tree, parents = index.write_tree(self._repository), [pygit2.Oid(hex=parent)]
        return str(
            self._repository.create_commit(None, who, who, _TITLE, tree, parents)
        )

    def _git(self, *args: str) -> str:
        cwd = self._place.checkout.top
        return git.run(args, cwd=cwd, env=self._env).stdout.decode()


class _Ref(Payload):
    ref: str


class PullUndo(Step):
    page = "pulls"
    by_hand = f"close the pull request from {BRANCH} and delete that branch"

    async def look(self) -> Look:
        number, is_there = await self._open(), await self._has_branch()
        if number is None and not is_there:
            return wanted(f"there is no open pull request from {BRANCH}")
        closed = f"close pull request #{number} and " if number is not None else ""
        return owed(f"{closed}delete the branch {BRANCH}")

    async def do(self) -> None:
        if (number := await self._open()) is not None:
            closed = {"state": "closed"}
            await self._rest.write("PATCH", f"{self._repo}/pulls/{number}", closed)
        if await self._has_branch():
            await self._rest.write("DELETE", f"{self._repo}/git/refs/heads/{BRANCH}")

    async def _open(self) -> int | None:
        pulls = PullRequests(self._rest, self._place.origin.repository)
        known = await pulls.of(BRANCH, self._place.branch)
        return known.number if known is not None and known.state == "open" else None

    async def _has_branch(self) -> bool:
        url = f"{self._repo}/git/matching-refs/heads/{BRANCH}"
        names = [each.ref async for each in self._rest.each(_Ref, url)]
        return f"refs/heads/{BRANCH}" in names


class MergedUndo(Step):
    """Names what has been merged; a person deletes it by a commit."""

    by_hand = "delete brat's workflow files"

    async def look(self) -> Look:
        names = needed(self._place.checkout)
        there = [
            path
            for path in (*(f"{FOLDER}/{name}" for name in names), SIGNERS_FILE)
            if await text_at(self._rest, self._place.origin.repository, path)
            is not None
        ]
        branch = self._place.branch
        if not there or there == [SIGNERS_FILE]:
            return wanted(f"{branch} contains none of brat's workflow files")
        return for_a_person(f"delete the merged files on {branch}: {', '.join(there)}")


_DONE: Final = ("everything is set up", "everything is set up; nothing was changed")
_UNDONE: Final = (
    "everything that brat setup did has been undone",
    "there was nothing to undo; nothing was changed",
)
_PLAN: Final = (
    "create the label brat, and open an issue with one small task as a smoke test",
    "allow jobs to open pull requests, and make job tokens read-only by default",
    "create the key that signs brat's log; only the default branch can use it",
    "store your engine's key as a secret",
    'open the pull request "Set up brat" with one workflow file',
)


def setup(repo: Path, *, local: bool, ci: str, undo: bool, yes: bool) -> int:
    """Show what is needed, do it if a person agrees; return 1 if anything is left."""
    ask = None if yes or not sys.stdin.isatty() else typed_key
    checkout = checkouts.find(repo)
    config = local_mode.configuration(checkout)
    origin = origin_of(checkout.top)
    token = token_for(origin)
    if not token:
        if not undo:
            say(f"brat setup would do this in {origin.repository} after asking you:")
            for line in _PLAN:
                say(f"  {line}")
        wanted = " or ".join(origin.variables)
        raise BratError(
            f"no token for {origin.host}: set {wanted}, or sign in with gh auth login"
        )
    say(f"{origin.repository} on {origin.host}:")

    async def applied() -> int:
        async with transport.async_client(DEADLINE_S) as client:
            rest = Rest(client, api_url=origin.api_url, token=token)
            described = await rest.read(Repository, f"/repos/{origin.repository}")
            place = Place(
                rest=rest,
                origin=origin,
                token=token,
                branch=described.default_branch,
                checkout=checkout,
                config=config,
                ci=ci,
                ask=ask,
            )
            if undo:
                # The environment tells what setup made: it goes after all of that.
                back = (
                    steps.IssueUndo(place),
                    PullUndo(place),
                    secret_steps.EngineKeyUndo(place),
                    secret_steps.SignersUndo(place),
                    secret_steps.EnvironmentUndo(place),
                    steps.CiUndo(place),
                    steps.LabelUndo(place),
                    steps.PullRequestUndo(place),
                    LocalUndo(place) if local else MergedUndo(place),
                )
                return await brought_about(back, origin.web, _UNDONE, yes=yes)
            first: tuple[Step, ...] = (
                steps.LabelStep(place),
                steps.DefaultTokenStep(place),
                steps.PullRequestStep(place),
                secret_steps.EnvironmentStep(place),
                secret_steps.LogKeyStep(place),
                steps.CiStep(place),
                secret_steps.EngineKeyStep(place),
                steps.ContainerStep(place),
            )
            files = LocalFilesStep(place) if local else WorkflowStep(place, first)
            plan = (*first, files, steps.ReadyStep(place, files))
            return await brought_about(plan, origin.web, _DONE, yes=yes)

    return asyncio.run(applied())
