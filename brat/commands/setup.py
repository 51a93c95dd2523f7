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
from functools import partial
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
    compare,
    installed_from,
    is_ours,
    needed,
    proposed,
    write_missing,
)
from brat.setup import secret_steps, steps
from brat.setup.steps import (
    BRANCH,
    Look,
    Place,
    Step,
    for_a_person,
    owed,
    step,
    wanted,
)
from brat.terminal.console import agrees, say, typed_key
from grite import git
from grite.errors import BratError, GitFailed
from grite.outbound import here
from grite.push_answer import push_answer
from grite.signatures import SIGNERS_FILE

_MARKS: Final = {"wanted": "ok  ", "owed": "do  ", "by hand": "hand"}


async def brought_about(
    plan: Sequence[Step], place: Place, ends: tuple[str, str], *, yes: bool
) -> int:
    """Do the steps in order, once the person agrees; return 1 if something is left.

    `ends` is said where nothing is left: after changes, and without any; `yes`: they
    have agreed.

    Safe to call again, also after a call that was cut off: each step is looked at
    before anything is done, and what is as wanted is left alone.
    """
    looks = [await _seen(each, place) for each in plan]
    for look in looks:
        say(f"  {_MARKS[look.state]}  {look.said}")
    todo = [number for number, look in enumerate(looks) if look.state == "owed"]
    if not todo:
        return _end(looks, ends[1])
    if not agrees("apply this plan?", yes=yes):
        say("nothing was changed")
        return 1
    for number in todo:
        each = plan[number]
        try:
            now = await each.look(place)  # what was done before may have changed it
            if now.state == "owed" and now.do:
                await now.do()
        except BratError as error:
            after = _told(each, error, place)
        else:
            after = await _seen(each, place)
            if after.state == "owed":  # what was read back
                said = "the forge accepted the change, but it had no effect"
                after = for_a_person(f"{said}: {each.by_hand(place)}")
        looks[number] = after
        say(f"  {_MARKS[after.state]}  {after.said}")
    return _end(looks, ends[0])


async def _seen(seen: Step, place: Place) -> Look:
    """Look; what may not be seen is a person's to do."""
    try:
        return await seen.look(place)
    except Refused as refused:
        return _told(seen, refused, place)


_EXCLUDE: Final = (
    "exempt the branches that brat creates from your rules, then try again"
)


def _told(failed: Step, error: BratError, place: Place) -> Look:
    """Return what a person does instead, why, and on which page."""
    hand, page, why = failed.by_hand(place), failed.page, str(error)
    refusal = None
    if isinstance(error, Refused):
        refusal = refusal_of_rest(error)
        said = refusal.why.partition(": ")[2].rstrip(".")
        why = f"the forge answered {error.status}: {said}"
    elif isinstance(error, GitFailed):
        refusal = refusal_of_push(push_answer((), "", error.stderr).said, "")
    if refusal and refusal.rule == "rule-violation":
        hand, page = _EXCLUDE, "settings/rules"
        why = why if isinstance(error, Refused) else refusal.why.rstrip(".")
    where = f": {place.origin.web}/{page}" if page else ""
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


async def _body(place: Place) -> str:
    """Return what the pull request says: what was found, will happen, and is left."""
    looks = [(each.page, await _seen(each, place)) for each in _FIRST]
    found = [f"- {look.said}" for _, look in looks if look.state == "wanted"]
    left = [
        f"- [ ] {look.said} ([settings]({place.origin.web}/{page}))"
        for page, look in looks
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


@step("", "")
async def local_files(place: Place) -> Look:
    checkout = place.checkout
    found = compare(checkout, needed(checkout))
    missing = [each.name for each in found if not each.is_there]
    if missing:

        async def write() -> None:
            write_missing(checkout, found)

        return owed(f"write {', '.join(missing)} into {FOLDER}", write)
    return compared_files({each.name: each.is_ours for each in found})


@step("", "")
async def local_undo(place: Place) -> Look:
    """What is as setup writes it goes; what people changed stays."""
    checkout = place.checkout
    found = compare(checkout, needed(checkout))
    ours = [each.name for each in found if each.is_ours]
    if not ours:
        return wanted(f"{FOLDER} contains no files from brat setup")

    async def delete() -> None:
        for name in ours:
            (checkout.top / FOLDER / name).unlink()

    return owed(f"delete {', '.join(ours)} in {FOLDER}", delete)


@step(
    "pulls",
    "run `brat setup --local`, then commit and push the files yourself (the token "
    "needs permission to write workflows)",
)
async def proposed_files(place: Place) -> Look:
    """Propose the files that are missing on the default branch."""
    return await _Proposal(place).look()


class _Proposal:
    def __init__(self, place: Place) -> None:
        self._place = place
        self._names = needed(place.checkout)
        self._url = f"{place.origin.web}.git"
        self._env = here().for_git() | git.authorization(place.token)
        self._pulls = PullRequests(place.rest, place.origin.repository)
        self._repository = pygit2.Repository(str(place.checkout.top))

    async def look(self) -> Look:
        base, head = await asyncio.to_thread(self._heads)
        known = await self._pulls.of(BRANCH, self._place.branch)
        is_open = known is not None and known.state == "open"
        there, ours = self._texts(base), self._texts(head) if head else {}
        missing = [name for name in self._names if name not in there]
        if not missing:
            return compared_files({each: is_ours(each, there[each]) for each in there})
        listed = ", ".join(missing)
        if any(name not in ours for name in missing):
            said = f"propose {listed} in a pull request from {BRANCH}"
            return owed(said, partial(self._propose, head or base, is_open=is_open))
        if known is None or not is_open:
            return owed(f"open a pull request from {BRANCH} with {listed}", self._open)
        note = "" if installed_from() else f"; {UNPINNED}"
        merge = f"merge pull request #{known.number}"
        return for_a_person(f"{merge}: it contains {listed}{note}")

    async def _propose(self, parent: str, *, is_open: bool) -> None:
        """Push the branch, and open its pull request unless it is there."""
        signers = await steps.Variable(self._place, secret_steps.SIGNERS).value()
        made = self._commit(parent, signers)
        await asyncio.to_thread(
            self._git, "push", "--quiet", self._url, f"{made}:refs/heads/{BRANCH}"
        )
        if not is_open:
            await self._open()

    async def _open(self) -> None:
        body = await _body(self._place)
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


@step("pulls", f"close the pull request from {BRANCH} and delete that branch")
async def pull_undo(place: Place) -> Look:
    rest, url = place.rest, f"{place.repo}/git/matching-refs/heads/{BRANCH}"
    known = await PullRequests(rest, place.origin.repository).of(BRANCH, place.branch)
    number = known.number if known is not None and known.state == "open" else None
    names = [each.ref async for each in rest.each(_Ref, url)]
    is_there = f"refs/heads/{BRANCH}" in names
    if number is None and not is_there:
        return wanted(f"there is no open pull request from {BRANCH}")

    async def close() -> None:
        if number is not None:
            closed = {"state": "closed"}
            await rest.write("PATCH", f"{place.repo}/pulls/{number}", closed)
        if is_there:
            await rest.write("DELETE", f"{place.repo}/git/refs/heads/{BRANCH}")

    closed = f"close pull request #{number} and " if number is not None else ""
    return owed(f"{closed}delete the branch {BRANCH}", close)


@step("", "delete brat's workflow files")
async def merged_undo(place: Place) -> Look:
    """Name what has been merged; a person deletes it by a commit."""
    paths = (*(f"{FOLDER}/{name}" for name in needed(place.checkout)), SIGNERS_FILE)
    name, branch = place.origin.repository, place.branch
    there = [
        path for path in paths if await text_at(place.rest, name, path) is not None
    ]
    if not there or there == [SIGNERS_FILE]:
        return wanted(f"{branch} contains none of brat's workflow files")
    return for_a_person(f"delete the merged files on {branch}: {', '.join(there)}")


_FIRST: Final = (
    steps.label,
    steps.default_token,
    steps.pull_requests,
    secret_steps.environment,
    secret_steps.log_key,
    steps.ci,
    secret_steps.engine_key,
    steps.container,
    steps.allowed,
)
_BACK: Final = (
    steps.issue_undo,
    pull_undo,
    secret_steps.engine_key_undo,
    secret_steps.signers_undo,
    # It tells what setup made: it goes after all of that.
    secret_steps.environment_undo,
    steps.ci_undo,
    steps.label_undo,
    steps.pull_requests_undo,
)
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
                files=local_files if local else proposed_files,
            )
            if undo:
                back = (*_BACK, local_undo if local else merged_undo)
                return await brought_about(back, place, _UNDONE, yes=yes)
            plan = (*_FIRST, place.files, steps.ready)
            return await brought_about(plan, place, _DONE, yes=yes)

    return asyncio.run(applied())
