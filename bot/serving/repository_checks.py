"""What an examination checks of one repository, a group of findings each.

Which of brat's workflows it has, and whether it has CI; whether workflows may run, and
what the tokens of their jobs may do; how its rules let the bot land, and push its own
branches; what CI hands to the code of agents; whether the allowed signers on the
default branch count. The last is asked for once: rules that change take effect with the
next start.
https://docs.github.com/rest/actions/workflows#list-repository-workflows
https://docs.github.com/rest/repos/contents#get-repository-content
https://docs.github.com/rest/actions/permissions
https://docs.github.com/rest/repos/rules#get-rules-for-a-branch
"""

import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import suppress
from http import HTTPStatus
from typing import TYPE_CHECKING, Final, Literal
from urllib.parse import quote

from msgspec import Struct

from bot.forge.branch_rules import MAY_PASS, BranchRules, Rule
from bot.forge.github_actions import open_environments
from bot.forge.payloads import Payload
from bot.forge.rest import Refused, Rest, Unless
from bot.forge.workflows import (
    LOOP_FILE,
    MOST_FILES,
    OWN_FILES,
    WORKFLOWS_FOLDER,
    DefaultRight,
    StartWay,
    environments_in,
    exposures,
    left_out_by_paths,
    ways_to_start,
)
from bot.settings.bot_folder import source_in_force
from bot.settings.bot_settings import Settings
from bot.text import notices
from convoy.model.work import TargetRules
from convoy.rules.target import landing_by
from convoy.views.reasons import unread_rules, way_of_landing
from grite.errors import BratError
from grite.signatures import (
    BOT_SIGNERS_FILE,
    SIGNERS_FILE,
    AllowedSigners,
    parse_signers,
)

if TYPE_CHECKING:  # `brat setup` asks for files by this, and the loop is slow to load
    from bot.loop.loop import Loop


class Finding(Struct, frozen=True):
    grade: Literal["ok", "note", "fault"]
    said: str
    mend: str = ""


IsOurs = Callable[[str, str], bool]
"""Whether this version writes a file with this name and this text."""


class _Workflow(Payload):
    path: str


class _Content(Payload):
    content: str = ""


async def workflow_texts(rest: Rest, name: str) -> dict[str, str]:
    url = f"/repos/{name}/actions/workflows?per_page=100"
    found: dict[str, str] = {}
    async for each in rest.each(_Workflow, url, "workflows"):
        file = each.path.removeprefix(f"{WORKFLOWS_FOLDER}/")
        if file != each.path and len(found) < MOST_FILES:
            text = await text_at(rest, name, each.path)
            if text is not None:
                found[file] = text
    return found


async def text_at(rest: Rest, name: str, path: str) -> str | None:
    """Return a file's text on the default branch; None: it is not there."""
    url = f"/repos/{name}/contents/{quote(path)}"
    with suppress(ValueError), Unless(HTTPStatus.NOT_FOUND):  # on another branch
        found = await rest.read(_Content, url)
        return base64.b64decode(found.content).decode(errors="replace")
    return None


async def examined_workflows(
    files: Mapping[str, str], is_ours: IsOurs
) -> AsyncIterator[Finding]:
    for file in OWN_FILES:
        if file not in files:
            continue
        if is_ours(file, files[file]):
            yield Finding("ok", f"{file} matches this version")
        else:
            mend = "unless you edited it, delete it, run brat init --actions, and push"
            yield Finding("note", f"{file} is from another version of brat", mend)
    own = {file: text for file, text in files.items() if file not in OWN_FILES}
    started: set[StartWay] = {"push"}
    if LOOP_FILE in files:  # it dispatches, if it is no App
        started.add("dispatch")
    judging = [file for file, text in own.items() if ways_to_start(text) & started]
    if judging:
        yield Finding("ok", f"{', '.join(judging)} can test brat's candidates")
    else:
        said = "no workflow runs on pushes to brat/queue/**"
        mend = 'add "brat/queue/**" to the push branches of your CI workflow, or set '
        yield Finding("note", said, f"{mend}[refinery] require_ci = false")


ADMINISTRATION: Final = "administration"
"""The permission for these settings; the bot itself never needs it."""
_WHERE: Final = "under Settings, Actions, General"


class _Actions(Payload):
    enabled: bool
    allowed_actions: str = "all"


class JobSettings(Payload):
    can_approve_pull_request_reviews: bool
    default_workflow_permissions: DefaultRight = ""


async def job_settings(rest: Rest, name: str) -> JobSettings | None:
    """Return what a job's token may do by default; None: the App may not see it."""
    url = f"/repos/{name}/actions/permissions/workflow"
    with suppress(Refused):
        return await rest.read(JobSettings, url)
    return None


async def examined_actions(
    rest: Rest, name: str, jobs: JobSettings | None, *, has_loop: bool, fix: bool
) -> AsyncIterator[Finding]:
    """Give findings about Actions; `fix` makes the default token read-only."""
    if jobs is None:
        said = "the App has no permission to check whether GitHub Actions is enabled"
        yield Finding("note", f"{said} ({ADMINISTRATION}: read)", f"check {_WHERE}")
        return
    actions = await rest.read(_Actions, f"/repos/{name}/actions/permissions")
    if actions.enabled:
        yield Finding("ok", "GitHub Actions is enabled")
    else:
        yield Finding("fault", "GitHub Actions is disabled", f"enable it {_WHERE}")
    yield await _token(rest, name, jobs, fix=fix)
    if actions.enabled and actions.allowed_actions == "local_only":
        said = "only the repository's own actions may run"
        mend = (
            f"allow actions/upload-artifact {_WHERE}: brat-task.yml needs it to "
            "upload its result"
        )
        yield Finding("fault", said, mend)
    if has_loop and jobs.can_approve_pull_request_reviews:
        yield Finding("ok", "jobs may open pull requests")
    elif has_loop:
        said = "jobs may not open pull requests, so brat.yml must act as an App"
        mend = f"add an App, or allow GitHub Actions to create pull requests {_WHERE}"
        yield Finding("note", said, mend)


async def _token(rest: Rest, name: str, known: JobSettings, *, fix: bool) -> Finding:
    """Check the default token of jobs: CI runs what agents write with it."""
    if known.default_workflow_permissions != "write":
        return Finding("ok", "by default a job's token is read-only")
    url = f"/repos/{name}/actions/permissions/workflow"
    if fix:
        with suppress(Refused):
            await rest.write("PUT", url, {"default_workflow_permissions": "read"})
            return Finding("ok", "made jobs' tokens read-only by default")
    said = "jobs' tokens can write by default, and CI runs code that agents wrote"
    grant = f"grant {ADMINISTRATION}: write and use --fix"
    mend = f"make tokens read-only by default {_WHERE}, or {grant}"
    return Finding("fault", said, mend)


OWN_BRANCHES: Final = ("convoy/any/base", "brat/queue/any/any")
"""Names to ask the rules for; the branches need not exist."""
_AGAINST: Final = {
    "creation": "no new branches",
    "deletion": "no deletion",
    "merge_queue": "the forge's merge queue",
    "non_fast_forward": "no force pushes",
    "pull_request": "a pull request for each push",
    "required_deployments": "deployments first",
    "required_linear_history": "no merge commits",
    "required_signatures": "signed commits",
    "required_status_checks": "checks before the push",
    "update": "no pushes",
}
"""Rules that matter on the bot's own branches, which it creates, moves and deletes."""
_MEND: Final = (
    "exclude these branches from the ruleset, or add the App to its bypass list, "
    "under Settings, Rules"
)
_READ: Final = "see what the branch requires under Settings, Rules"
_BYPASS: Final = "(The bot can bypass the rules if you set [refinery] bypass = true.)"


async def examined_rules(
    rules: BranchRules, main: str, files: Mapping[str, str]
) -> AsyncIterator[Finding]:
    """Give the findings about the rules of the default branch and of the bot's own."""
    found = await rules.of(main)
    yield _landing(found, main)
    if picky := left_out_by_paths(files, found.checks):
        yield Finding("note", notices.left_out_by_paths(picky))
    for branch in OWN_BRANCHES:
        listed = await rules.listed(branch) or ()
        binding = [rule for rule in listed if rule.type in _AGAINST]
        if binding:
            yield await _judged(rules, branch, binding)
        else:
            yield Finding("ok", f"no rule blocks the bot on {branch}")


def _landing(found: TargetRules, main: str) -> Finding:
    landing = landing_by(found, bypass=False)
    said = f"how a convoy lands: {way_of_landing(landing, main)}"
    if found.passes and landing.way != "push":
        said = f"{said} {_BYPASS}"
    if landing.unknown:
        return Finding("note", f"{said} {unread_rules(landing)}", _READ)
    if landing.way == "person":
        return Finding("note", said, _READ)
    return Finding("ok", said)


async def _judged(rules: BranchRules, branch: str, binding: Sequence[Rule]) -> Finding:
    """Return the finding about a branch's rules, if the bot may not pass them by."""
    may = {rule.ruleset_id: await rules.bypass(rule.ruleset_id) for rule in binding}
    left = [rule for rule in binding if may[rule.ruleset_id] not in MAY_PASS]
    if not left:
        return Finding("ok", f"the bot may bypass the rules on {branch}")
    wanted = ", ".join(sorted({_AGAINST[rule.type] for rule in left}))
    is_sure = any(may[rule.ruleset_id] for rule in left)
    more = "" if is_sure else "; GitHub does not show whether the bot may bypass them"
    block = "block" if is_sure else "may block"
    said = f"the rules on {branch} {block} the bot ({wanted}){more}"
    return Finding("fault" if is_sure else "note", said, _MEND)


async def examined_exposures(
    rest: Rest, name: str, files: Mapping[str, str], default: DefaultRight
) -> AsyncIterator[Finding]:
    """Give a fault for each thing that an agent's code could reach."""
    own = {file: text for file, text in files.items() if file not in OWN_FILES}
    reachable = await open_environments(rest, name, environments_in(own))
    found = exposures(own, default, reachable)
    for one in found:
        yield Finding("fault", one.said, one.mend)
    if not found:
        yield Finding("ok", "CI gives agents' code a read-only token and no secrets")


async def settle_signers(loop: "Loop") -> None:
    """Let the file count if only approved changes reach it; safe to call again."""
    context = loop.context
    mirror, settings = context.mirror, context.settings
    if mirror.committed is None or mirror.believes_branch is not None or settings.sole:
        return
    rules = await context.github.branch_rules.of(mirror.default_branch)
    found = source_in_force(settings.allowed_signers, has_file=True, rules=rules)
    mirror.believes_branch = found.source == "file"
    loop.tell(f"allowed signers: {found.why}")
    loop.wake.up("refs")  # what they signed counts from the next look on


async def examined_signers(
    rest: Rest, rules: BranchRules, settings: Settings, main: str
) -> AsyncIterator[Finding]:
    name = settings.repository
    text = await text_at(rest, name, SIGNERS_FILE)
    found = source_in_force(
        settings.allowed_signers, has_file=text is not None, rules=await rules.of(main)
    )
    said = f"allowed signers: {found.why}"
    if text is not None and found.source == "own key":
        mend = (
            f"require an approval on {main}, or pin the keys in the setting "
            '"allowed_signers" and in the variable BRAT_ALLOWED_SIGNERS'
        )
        yield Finding("fault", said, mend)
    else:
        yield Finding("ok", said)
    file = settings.folder / BOT_SIGNERS_FILE
    line = file.read_text().strip() if file.is_file() else ""  # it has made none yet
    if line and not _holds(text or "", line):
        yield Finding(
            "note",
            f"{SIGNERS_FILE} does not list the bot's key, so sessions accept its "
            "hand-offs only if the variable BRAT_ALLOWED_SIGNERS lists it",
            f"add this line: {line}",
        )


def _holds(text: str, line: str) -> bool:
    keys = {signer.public for signer in _parsed(text).signers}
    return {signer.public for signer in _parsed(line).signers} <= keys


def _parsed(text: str) -> AllowedSigners:
    try:
        return parse_signers(text)
    except BratError:  # such a file allows nobody
        return AllowedSigners()
