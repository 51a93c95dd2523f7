"""Workflow files: what starts them, what they hand to agents' code, and what they lack.

A push with a job's own token starts no workflow; a dispatch with it does. GitHub gives
a fork's pull request no secrets and a token that only reads. A push to `brat/queue/**`
or `convoy/**` comes from the bot, so GitHub trusts it: its jobs get what the workflow
files say. A job cannot ask what its own token may do: GitHub tells it with each refusal
alone. Pure.
https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax
https://docs.github.com/actions/concepts/security/github_token
https://docs.github.com/actions/reference/security/secure-use
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

from msgspec import Struct

from convoy.model import ids
from convoy.text.strangers_data import TooMuch, yaml_data

_SECRET: Final = re.compile(r"\bsecrets\s*(?:\.\s*|\[\s*['\"])([A-Za-z_]\w*)")
_WHOLE: Final = re.compile(r"toJSON\(\s*secrets\s*\)", re.IGNORECASE)
_EXPRESSION: Final = re.compile(r"\$\{\{(?:(?!\$\{\{).)*?\}\}")
_CACHES: Final = re.compile(r"^actions/cache(/restore)?@")
_OF_A_BRANCH: Final = re.compile(r"\bgithub\.(ref|ref_name|head_ref|sha|run_id)\b")
_TOKEN: Final = "GITHUB_TOKEN"  # noqa: S105  the name every job knows
EVERY_SECRET: Final = "*"  # noqa: S105  no secret has this name
Levels = Mapping[str, str]


WORKFLOWS_FOLDER: Final = ".github/workflows"
LOOP_FILE: Final = "brat.yml"
OWN_FILES: Final = (
    *(LOOP_FILE, "brat-jobs.yml", "brat-task.yml"),
    *("brat-task-live.yml", "brat-wake.yml"),
)
MOST_FILES: Final = 50
"""How many workflow files of one repository are read."""


class WorkflowJob(Struct, frozen=True, kw_only=True):
    name: str
    check: str
    """What matches the names of the checks that it can report."""
    permissions: str | Levels | None
    """Its own, else the file's; None: neither says any, so the repository's default."""
    secrets: tuple[str, ...]
    """The secrets that it names, without the token that every job has."""
    environment: str
    """Empty: it names none."""
    has_condition: bool
    uses_cache: bool

    @property
    def may_write(self) -> bool | None:
        """Whether its token can write; None: the repository's default decides."""
        if self.permissions is None:
            return None
        if isinstance(self.permissions, str):
            return self.permissions == "write-all"
        return "write" in self.permissions.values()


class WorkflowFile(Struct, frozen=True):
    on: dict[str, Any]
    """The settings of each event that starts it, by the event's name."""
    jobs: tuple[WorkflowJob, ...]
    unread: str = ""
    """Why nobody looks into it; empty: it was read."""
    shares_group: bool = False
    """Whether runs on different branches are in one concurrency group."""

    def starts_on(self, event: str, branches: Sequence[str] = ()) -> bool:
        """Whether an event starts it; for a push, on one of these branches."""
        if event not in self.on:
            return False
        told = self.on[event] or {}
        if event != "push" or not isinstance(told, dict):
            return True
        if "branches" in told:
            return any(
                picks_branch(_words(told["branches"]), each) for each in branches
            )
        if "branches-ignore" in told:
            ignored = _words(told["branches-ignore"])
            return any(not picks_branch(ignored, each) for each in branches)
        return "tags" not in told and "tags-ignore" not in told

    @property
    def inputs(self) -> dict[str, Any]:
        """What a dispatch may give it, by name."""
        told = self.on.get("workflow_dispatch")
        inputs = told.get("inputs") if isinstance(told, dict) else None
        return inputs if isinstance(inputs, dict) else {}

    @property
    def leaves_out(self) -> bool:
        """Whether it starts by pushes alone, and not on those that miss its paths."""
        told = self.on.get("push")
        filters = {"paths", "paths-ignore"}
        is_picky = isinstance(told, dict) and not filters.isdisjoint(told)
        return is_picky and "workflow_dispatch" not in self.on

    @property
    def releases(self) -> bool:
        """Whether it runs for releases, deployments or pushed tags."""
        push = self.on.get("push")
        tags = isinstance(push, dict) and "tags" in push
        return tags or bool({"release", "deployment"} & self.on.keys())


WORKFLOW_CHARS: Final = 200_000


@lru_cache(maxsize=64)  # each question about a repository's files asks for all
def parsed_workflow(text: str) -> WorkflowFile | None:
    """Return a workflow file; None: the text is none, and GitHub does not run it."""
    try:
        whole = yaml_data(text, WORKFLOW_CHARS)
    except TooMuch as error:
        return WorkflowFile({}, (), str(error))
    except ValueError:
        return None
    if not isinstance(whole, dict) or not isinstance(whole.get("jobs"), dict):
        return None
    shared = whole.get("permissions")
    env = whole.get("env")
    jobs = tuple(
        _job(str(name), job, shared, env)
        for name, job in whole["jobs"].items()
        if isinstance(job, dict)
    )
    on = whole.get("on", whole.get(True))
    events = on.items() if isinstance(on, dict) else dict.fromkeys(_words(on)).items()
    named = {str(name): told for name, told in events}
    places = (whole, *(job for job in whole["jobs"].values() if isinstance(job, dict)))
    return WorkflowFile(named, jobs, shares_group=any(map(_shares_group, places)))


def _shares_group(place: dict[str, Any]) -> bool:
    """Whether a file's or a job's concurrency group is the same on each branch.

    GitHub cancels all but two runs of a group. A job's condition may keep us out of it.
    https://docs.github.com/actions/how-tos/write-workflows/choose-when-workflows-run/control-workflow-concurrency
    """
    told = place.get("concurrency")
    group = told.get("group") if isinstance(told, dict) else told
    return not (group is None or "if" in place or _OF_A_BRANCH.search(str(group)))


def _all_parsed(files: Mapping[str, str]) -> dict[str, WorkflowFile]:
    """Return the files that GitHub runs, by name."""
    known = ((name, parsed_workflow(text)) for name, text in files.items())
    return {name: file for name, file in known if file is not None}


def _job(name: str, job: dict[str, Any], shared: object, env: object) -> WorkflowJob:
    steps = [step for step in job.get("steps") or () if isinstance(step, dict)]
    used = [str(step.get("uses", "")) for step in steps]
    own = job.get("permissions", shared)
    place = job.get("environment")
    texts = [*_texts(job), *_texts(env)]
    secrets = {name for text in texts for name in _SECRET.findall(text)} - {_TOKEN}
    if job.get("secrets") == "inherit" or any(map(_WHOLE.search, texts)):
        secrets.add(EVERY_SECRET)
    return WorkflowJob(
        name=name,
        check=_check_names(name, job),
        permissions=own if isinstance(own, str | dict) else None,
        secrets=tuple(sorted(secrets)),
        environment=str(
            place.get("name", "") if isinstance(place, dict) else place or ""
        ),
        has_condition="if" in job,
        uses_cache=any(_CACHES.match(each) for each in used)
        or any("cache" in (step.get("with") or {}) for step in steps),
    )


def _check_names(name: str, job: dict[str, Any]) -> str:
    """Return the names of a job's checks as a regular expression.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#jobsjob_idname
    """
    parts = _EXPRESSION.split(str(job.get("name") or name))
    strategy = job.get("strategy")
    is_many = isinstance(strategy, dict) and "matrix" in strategy
    each = r" \(.*\)" if is_many and len(parts) == 1 else ""
    called = r" / .*" if "uses" in job else ""
    return ".*".join(map(re.escape, parts)) + each + called


def _is_named(check: str, name: str) -> bool:
    """Whether a check may have a name; each part is looked for at its first place."""
    first, *parts = check.split(".*")
    between = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return (
        re.fullmatch(first + between + ".*".join(("", *parts[-1:])), name) is not None
    )


def unreportable(
    files: Mapping[str, str], required: Iterable[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the required checks that no job has, and what the jobs' checks are.

    Without a workflow that has jobs CI is elsewhere, and nothing is known.
    """
    checks = [job.check for file in _all_parsed(files).values() for job in file.jobs]
    lacking = tuple(
        each for each in required if not any(_is_named(one, each) for one in checks)
    )
    shown = (re.sub(r"\\(.)", r"\1", one).replace(".*", "…") for one in checks)
    return (lacking, tuple(dict.fromkeys(shown))) if checks else ((), ())


def left_out_by_paths(
    files: Mapping[str, str], required: Iterable[str]
) -> tuple[str, ...]:
    """Return the required checks of which nothing comes where no such path changes.

    https://docs.github.com/pull-requests/collaborating-with-pull-requests/collaborating-on-repositories-with-code-quality-features/troubleshooting-required-status-checks#handling-skipped-but-required-checks
    """
    return _only_from(files, required, lambda file: file.leaves_out)


_QUEUED: Final = ("gh-readonly-queue/main/pr-1-c0ffee",)
"""A branch of the forge's merge queue."""


def left_out_of_queue(
    files: Mapping[str, str], required: Iterable[str]
) -> tuple[str, ...]:
    """Return the required checks of which nothing comes in the forge's merge queue.

    https://docs.github.com/repositories/configuring-branches-and-merges-in-your-repository/configuring-pull-request-merges/managing-a-merge-queue#triggering-merge-group-checks-with-github-actions
    """
    return _only_from(
        files,
        required,
        lambda file: not ("merge_group" in file.on or file.starts_on("push", _QUEUED)),
    )


def _only_from(
    files: Mapping[str, str],
    required: Iterable[str],
    is_so: Callable[[WorkflowFile], bool],
) -> tuple[str, ...]:
    """Return the checks that only such files report."""
    parsed = _all_parsed(files).values()
    reports = [(job.check, is_so(file)) for file in parsed for job in file.jobs]
    found = {
        each: [such for check, such in reports if _is_named(check, each)]
        for each in required
    }
    return tuple(each for each, such in found.items() if such and all(such))


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for each in value.values():
            yield from _texts(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts(each)
    elif isinstance(value, str):
        yield value


def _words(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]


def picks_branch(patterns: Sequence[str], branch: str) -> bool:
    """Whether a list of branch patterns picks a branch; the last match counts.

    https://docs.github.com/actions/reference/workflows-and-actions/workflow-syntax#filter-pattern-cheat-sheet
    """
    picked = False
    for pattern in patterns:
        if _fits(pattern.removeprefix("!"), branch):
            picked = not pattern.startswith("!")
    return picked


_PART: Final = re.compile(r"(\*\*|\*|\[[^\]]{0,99}\]|\\?.)([?+]?)", re.DOTALL)


def _fits(pattern: str, branch: str) -> bool:
    """Whether a branch fits a pattern, tried at all places at once.

    A regular expression of a dozen stars would try them one after another, for hours.
    """
    at = {0}
    for part, often in _PART.findall(pattern):
        is_star = part in ("*", "**")
        left = {*at} if is_star or often == "?" else set[int]()
        while at:
            at = {n + 1 for n in at if n < len(branch) and _takes(part, branch[n])}
            at -= left
            left |= at
            if not (is_star or often == "+"):
                break
        at = left
    return len(branch) in at


def _takes(part: str, letter: str) -> bool:
    if part in ("*", "**"):
        return part == "**" or letter != "/"
    if not (part.startswith("[") and part.endswith("]")):
        return part[-1] == letter
    inside = re.findall(r"(.)-(.)|(.)", part[1:-1], re.DOTALL)
    return any(
        first <= letter <= last if first else one == letter
        for first, last, one in inside
    )


StartWay = Literal["dispatch", "push"]
_WAIVE: Final = "or set [refinery] require_ci = false"


def candidate_branches(target: str) -> tuple[str, ...]:
    """Return a branch of each kind that holds a candidate: a task's, the convoy's."""
    bases = (ids.base_branch("any"), target)
    return tuple(ids.queue_branch(base, "0") for base in bases)


def ways_to_start(text: str) -> frozenset[StartWay]:
    """Return how a workflow file can be started on a candidate; empty: it cannot."""
    file = parsed_workflow(text)
    if file is None or not file.jobs:
        return frozenset()
    can: dict[StartWay, bool] = {
        "dispatch": "workflow_dispatch" in file.on and not _needs_input(file),
        "push": file.starts_on("push", candidate_branches("main")),
    }
    return frozenset(way for way, is_so in can.items() if is_so)


def lack_of_ci(
    files: Mapping[str, str], *, by_job: bool, target: str = "main"
) -> tuple[str, str] | None:
    """Return why no file judges what brat builds, and what mends it; None: one can.

    `by_job`: brat pushes with the token of a job, as it is no App.
    """
    if by_job and judging_files(files, "dispatch"):
        return None
    if not by_job:
        known = [file for file in _all_parsed(files).values() if file.jobs]
        unjudged = (
            branch
            for branch in candidate_branches(target)
            if not any(file.starts_on("push", (branch,)) for file in known)
        )
        if not (missing := next(unjudged, "")):
            return None
        where = f"brat/queue/**, such as {missing}"
        said = f"no workflow here runs on pushes to {where}, but CI is required"
        return said, f'add "brat/queue/**" to the push branches of your CI, {_WAIVE}'
    mend = (
        "give your CI workflow a workflow_dispatch trigger without required inputs "
        "and set the variable BRAT_CI_WORKFLOW to its file name"
    )
    if pushed := judging_files(files, "push"):
        said = f"pushes from a job do not start {', '.join(pushed)}, but CI is required"
        return said, f"{mend}, let brat act as an App, {_WAIVE}"
    said = "no workflow here can test brat's candidates, but CI is required"
    return said, f"{mend}, {_WAIVE}"


def dispatch_fault(files: Mapping[str, str], named: str) -> str | None:
    """Return why a loop that dispatches CI cannot start it; None: it can.

    `named` is the file that BRAT_CI_WORKFLOW names; empty: none.
    """
    if named in files:
        if "dispatch" in ways_to_start(files[named]):
            return None
        return f"{named} needs a workflow_dispatch trigger without required inputs"
    if named:
        return f"this repository has no workflow file named {named}"
    known = [name for name, text in files.items() if ways_to_start(text)]
    return (
        f"set the variable BRAT_CI_WORKFLOW to your CI workflow, such as {known[0]}"
        if known
        else None
    )


class CiStart(Struct, frozen=True):
    """What a loop that is no App starts on each candidate."""

    file: str = ""
    """The workflow file to dispatch; empty: nothing is started."""
    command: str = ""
    """The test command that brat's own job runs, where no file is there for it."""
    fault: str = ""
    """Why nothing is started, half a sentence; empty: CI may be elsewhere."""


def ci_start(files: Mapping[str, str], named: str, command: str) -> CiStart:
    """Return how CI starts: by the named file, the only one that can, or the command.

    A file that was not named is taken only if it tests changes and can do no harm: a
    dispatch must not deploy what an agent wrote.
    """
    if named:
        fault = dispatch_fault(files, named) or ""
        return CiStart(fault=fault) if fault else CiStart(named)
    known, found = _all_parsed(files), []
    for name in judging_files(files, "dispatch"):
        file = known[name]
        is_for_changes = {"push", "pull_request", "merge_group"} & file.on.keys()
        does_more = any(job.may_write or job.environment for job in file.jobs)
        if is_for_changes and not (file.releases or does_more):
            found.append(name)
    if len(found) == 1:
        return CiStart(found[0])
    if found:
        said = "set the variable BRAT_CI_WORKFLOW to the workflow that tests changes"
        return CiStart(fault=f"{said}: {' or '.join(found)}")
    if command:
        return CiStart(command=command)
    return CiStart(fault=dispatch_fault(files, "") or "")


def takes_input(text: str, name: str) -> bool:
    file = parsed_workflow(text)
    return file is not None and name in file.inputs


def judging_files(files: Mapping[str, str], way: StartWay) -> tuple[str, ...]:
    return tuple(name for name, text in files.items() if way in ways_to_start(text))


def _needs_input(file: WorkflowFile) -> bool:
    """Whether GitHub refuses a dispatch that gives no inputs."""
    return any(
        isinstance(each, dict)
        and each.get("required") is True
        and each.get("default") in (None, "")
        for each in file.inputs.values()
    )


OUR_BRANCHES: Final = (
    *candidate_branches("main"),
    *candidate_branches("master"),
    "convoy/any/base",
    "convoy/any/task-1",
)
"""A branch of each kind that holds what agents wrote."""
_EVENTS: Final = ("push", "pull_request", "create")
_TARGET: Final = "pull_request_target"
_READ: Final = "give it `permissions: contents: read`"
ONLY_MAIN: Final = "give it `if: github.ref == 'refs/heads/main'`"

DefaultRight = Literal["read", "write", ""]
"""What the repository's jobs may do by default; empty: not known."""


class Exposure(Struct, frozen=True):
    said: str
    """A sentence without its end; file and job are named in it."""
    mend: str


def exposures(
    files: Mapping[str, str],
    default: DefaultRight,
    open_environments: frozenset[str] | None,
) -> tuple[Exposure, ...]:
    """Return what the code of agents can reach by the workflow files but brat's own.

    `default` is what a job's token may do where no permissions are named. The rules of
    `open_environments` let our branches in; None: they are not looked at.
    """
    known = _all_parsed(files)
    found: list[Exposure] = []
    for name, file in known.items():
        if file.unread:
            said = f"{name} was not checked: {file.unread}"
            found.append(Exposure(said, "make it smaller, or check it yourself"))
        if _TARGET in file.on:
            said = f"{name} runs on {_TARGET} and exposes its secrets to agents' code"
            found.append(Exposure(said, "trigger it on pull_request instead"))
        if is_exposed(file):
            if file.shares_group:
                said = (
                    f"{name}: all branches share a concurrency group, which cancels CI"
                )
                found.append(Exposure(said, "add `${{ github.ref }}` to its name"))
            for job in file.jobs:
                found += _of_job(name, job, default, open_environments)
    return (*found, *_caches(known))


def is_exposed(file: WorkflowFile) -> bool:
    return any(file.starts_on(event, OUR_BRANCHES) for event in _EVENTS)


def environments_in(files: Mapping[str, str]) -> frozenset[str]:
    exposed = (file for file in _all_parsed(files).values() if is_exposed(file))
    named = (job.environment for file in exposed for job in file.jobs)
    return frozenset(filter(None, named))


def _of_job(
    name: str,
    job: WorkflowJob,
    default: DefaultRight,
    environments: frozenset[str] | None,
) -> Iterator[Exposure]:
    where = f"{name}, job {job.name}"
    if job.may_write or (job.may_write is None and default == "write"):
        yield Exposure(f"{where}: agents' code gets a token that can write", _READ)
    elif job.may_write is None and not default:
        said = f"{where}: it names no permissions, so its token may be able to write"
        yield Exposure(said, _READ)
    if job.secrets:
        what = "all" if EVERY_SECRET in job.secrets else ", ".join(job.secrets)
        said = f"{where}: agents' code can read the secrets that the job uses ({what})"
        mend = "move them to a workflow that runs only on the default branch"
        yield Exposure(said, mend)
    if not job.environment or environments is None:
        return
    if job.environment in environments:
        said = f"{where}: agents' code can use the environment {job.environment}"
        mend = "limit its deployment branches to the default branch"
        yield Exposure(said, mend)
    elif not job.has_condition:
        said = f"{where}: it fails on brat/queue/**, which its environment keeps out"
        yield Exposure(said, ONLY_MAIN)


def _caches(files: Mapping[str, WorkflowFile]) -> Iterator[Exposure]:
    """Give the releases that read a cache which jobs on agents' code also write."""
    writers = [
        name
        for name, file in files.items()
        if is_exposed(file) and any(job.uses_cache for job in file.jobs)
    ]
    for name, file in files.items():
        if writers and file.releases and any(job.uses_cache for job in file.jobs):
            said = f"{name} builds releases with a cache that {writers[0]} can change"
            yield Exposure(said, f"do not use a cache in {name}")


LOOP_JOBS: Final = ("loop", "brat")
"""The job that runs the loop, or that calls it in brat's own repository."""
_NEEDS: Final = {
    "actions": ("write", "brat cannot start tasks or CI"),
    "checks": ("write", "brat cannot show a task's state as a check"),
    "contents": ("write", "brat cannot push"),
    "issues": ("write", "brat cannot comment on issues"),
    "pull-requests": ("write", "brat cannot open pull requests"),
    "statuses": ("write", "GitHub does not count the CI that brat starts"),
}
_ENOUGH: Final = {"read": ("read", "write"), "write": ("write",)}


def lacking_rights(text: str) -> tuple[str, ...]:
    """Return which permissions the loop's job lacks, and for what, if known."""
    file = parsed_workflow(text)
    jobs = file.jobs if file is not None else ()
    job = next((each for each in jobs if each.name in LOOP_JOBS), None)
    if job is None or job.permissions is None:
        return ()
    given = job.permissions
    every = given.removesuffix("-all") if isinstance(given, str) else ""
    levels = given if isinstance(given, Mapping) else {}
    return tuple(
        f"{name}: {level} is missing, so {then}"
        for name, (level, then) in _NEEDS.items()
        if (every or str(levels.get(name, "none"))) not in _ENOUGH[level]
    )
