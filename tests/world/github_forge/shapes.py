"""How GitHub's API writes the records of a forge: every field that its description has.

brat's own forge answers with those alone that brat reads.
"""

from base64 import b64encode
from collections.abc import Callable
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final, Literal
from urllib.parse import quote

import pygit2
from msgspec import Raw, json
from pygit2.enums import SortMode

from brat.forge.resources.forge_records import (
    ACTIONS_APP,
    ROLES,
    Artifact,
    CheckRun,
    Comment,
    Issue,
    IssueEvent,
    Label,
    Pull,
    Reaction,
    Record,
    Repository,
    Role,
    Run,
    User,
    app_number,
    workflow_id,
)
from brat.forge.resources.wire import Site, fields, iso
from brat.forge.rest.rest_call import Answer, Call, Route, found
from brat.forge.service.announcements import ForgeContext, Renderer
from brat.forge.storage.git_storage import Bare
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.dull import dull
from tests.world.github_forge.per_store import per_store

MergeMethod = Literal["merge", "squash"]
NOREPLY: Final = "@users.noreply.localhost"


def node_id(kind: str, number: int | str) -> str:
    """Return the id that GraphQL would use: opaque, unique for kind and number."""
    return b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")


def alike(names: str, value: object = None) -> dict[str, Any]:
    """Return fields of an answer that have the same value."""
    return dict.fromkeys(names.split(), value)


class Review(Record, frozen=True, kw_only=True):
    """A review; `state` as GitHub writes it: APPROVED, ..."""

    pull: int
    user: int
    body: str
    state: str
    commit: str
    submitted_at: str


class CommitStatus(Record, frozen=True, kw_only=True):
    """A commit status; the newest of a context counts."""

    repo: int
    sha: str
    state: str
    context: str
    creator: int
    created_at: str
    description: str | None = None
    target_url: str | None = None


class _Tables:
    """What a forge's file holds of reviews and statuses."""

    def __init__(self, store: Store) -> None:
        self.reviews = Table(store, Review, lambda r: r.pull)
        self.statuses = Table(store, CommitStatus, lambda r: (r.repo, r.sha))


said_in = per_store(_Tables)
"""The reviews, by their pull requests, and the statuses of a forge."""


def user(site: Site, who: User) -> dict[str, Any]:
    return {
        **dull("simple-user"),
        "login": who.login,
        "id": who.id,
        "html_url": f"{site.base}/{who.login.replace('[bot]', '')}",
        "type": who.kind,
        "gravatar_id": "",
        "user_view_type": "public",
    }


def permissions(role: Role) -> dict[str, bool]:
    """What a role may do, by GitHub's five flags."""
    rank = ROLES.index(role)
    flags = ("pull", "triage", "push", "maintain", "admin")
    return {flag: rank >= place for place, flag in enumerate(flags, start=1)}


def collaborator(site: Site, who: User, role: Role) -> dict[str, Any]:
    older = {"triage": "read", "maintain": "write"}.get(role, role)
    more = {"permissions": permissions(role), "role_name": role}
    return {"permission": older, "role_name": role, "user": user(site, who) | more}


def app(site: Site, slug: str) -> dict[str, Any]:
    """An app by its slug. The forge keeps no apps: the rest follows from the slug."""
    return {
        **dull("integration"),
        "id": app_number(slug),
        "slug": slug,
        "node_id": node_id("App", slug),
        "name": "GitHub Actions" if slug == ACTIONS_APP else slug,
        "html_url": f"{site.base}/apps/{slug}",
    }


def _repository(site: Site, repo: Repository, owner: User) -> dict[str, Any]:
    return {
        **dull("repository"),
        **fields(repo, "id name full_name private archived description default_branch"),
        **fields(repo, "pushed_at created_at updated_at"),
        "node_id": node_id("Repository", repo.id),
        "owner": user(site, owner),
        "html_url": site.page(repo.full_name),
        "visibility": "private" if repo.private else "public",
        "has_discussions": False,
        "topics": (),
    }


@lru_cache(maxsize=64)
def repository(site: Site, repo: Repository, owner: User) -> Raw:
    """A repository inside another answer, already encoded."""
    return Raw(json.encode(_repository(site, repo, owner)))


def workflow(path: str) -> dict[str, Any]:
    return {
        **dull("workflow"),
        "id": workflow_id(path),
        "name": path.rpartition("/")[2].rpartition(".")[0],
        "path": path,
    }


def when(who: pygit2.Signature) -> str:
    """When someone signed, in UTC."""
    return iso(datetime.fromtimestamp(who.time, UTC))


def simple_commit(one: pygit2.Commit) -> dict[str, Any]:
    """A commit as workflow runs and pushes show it."""
    return {
        "id": str(one.id),
        "tree_id": str(one.tree_id),
        "message": one.message,
        "timestamp": when(one.committer),
        "author": {"name": one.author.name, "email": one.author.email},
        "committer": {"name": one.committer.name, "email": one.committer.email},
    }


def _who(who: pygit2.Signature) -> dict[str, str]:
    return {"name": who.name, "email": who.email, "date": when(who)}


def commit(one: pygit2.Commit) -> dict[str, Any]:
    """A commit of the repository; its people are not matched with accounts."""
    dull_one = dull("commit")
    said = {
        "author": _who(one.author),
        "committer": _who(one.committer),
        "message": one.message,
        "verification": {**dull("verification"), "reason": "unsigned"},
    }
    return {**dull_one, "sha": str(one.id), "commit": dull_one["commit"] | said}


class FullRenderer(Renderer):
    """Shows records of one forge whole."""

    def __init__(self, context: ForgeContext) -> None:
        super().__init__(context)
        self.more_of_issue: Callable[[Issue], dict[str, Any]] = lambda _: {}
        """Gives what an issue shows beside the forge's own fields."""
        self.merge_state: Callable[[Repository, Pull], str] = lambda *_: "clean"
        """Gives `clean`, or what the rules have against a merge."""
        self._known: dict[tuple[str, str], bool] = {}

    def mergeable(self, repo: Repository, pull: Pull) -> tuple[bool | None, str]:
        """Say whether a pull request merges cleanly, and GitHub's word for that."""
        if self._forge.issue_of(pull).state == "closed":
            return None, "unknown"
        sides = (pull.base_sha, pull.head_sha)
        if sides not in self._known:
            index = self._forge.bare(repo).git.merge_commits(*sides)
            self._known[sides] = index.conflicts is None
        if not self._known[sides]:
            return False, "dirty"
        if pull.draft:
            return True, "draft"
        return True, self.merge_state(repo, pull)

    def user(self, who: User) -> dict[str, Any]:
        return user(self._context.site, who)

    def repository(self, repo: Repository) -> Raw:
        return repository(self._context.site, repo, self.owner(repo))

    def association(self, repo: Repository, who: User) -> str:
        """Return an author's association with a repository, in GitHub's words."""
        if who.login.lower() == repo.owner.lower():
            return "OWNER"
        return "COLLABORATOR" if self._forge.may(repo, who, "triage") else "NONE"

    def issue(self, repo: Repository, one: Issue) -> dict[str, Any]:
        """An issue; a pull request too, as the issues API shows it."""
        shape = super().issue(repo, one)
        if one.pull:
            urls = dict.fromkeys(("diff_url", "patch_url"), shape["html_url"])
            shape["pull_request"] = shape["pull_request"] | urls
        return {
            **dull("issue"),
            **shape,
            "node_id": node_id("Issue", one.id),
            "author_association": self.association(repo, self.who(one.author)),
            "assignee": next(iter(shape["assignees"]), None),
            "active_lock_reason": None,
            "reactions": dull("reaction-rollup"),
            **self.more_of_issue(one),
        }

    def comment(self, repo: Repository, one: Comment) -> dict[str, Any]:
        shape = super().comment(repo, one)
        return {
            **dull("issue-comment"),
            **shape,
            "node_id": node_id("IssueComment", one.id),
            "performed_via_github_app": None,
            "author_association": self.association(repo, self.who(one.author)),
            "reactions": dull("reaction-rollup"),
        }

    def label(self, repo: Repository, one: Label) -> dict[str, Any]:
        labels = f"{self._context.site.repo(repo.full_name)}/labels"
        return {
            **dull("label"),
            **super().label(repo, one),
            "url": f"{labels}/{quote(one.name, safe='')}",
            **alike("archived_at archived_by"),
        }

    def issue_event(self, repo: Repository, one: IssueEvent) -> dict[str, Any]:
        api = self._context.site.repo(repo.full_name)
        shape = super().issue_event(repo, one)
        if one.assignee is not None:
            shape["assignee"] = self.user(self.who(one.assignee))
            shape["assigner"] = shape["actor"]
        return shape | {
            "node_id": node_id("IssueEvent", one.id),
            "url": f"{api}/issues/events/{one.id}",
            "commit_id": one.commit,
            "commit_url": one.commit and f"{api}/commits/{one.commit}",
            "performed_via_github_app": None,
        }

    def reaction(self, one: Reaction) -> dict[str, Any]:
        return {**dull("reaction"), **super().reaction(one)}

    # --- pull requests ------------------------------------------------------------

    def pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request as lists show it."""
        shape, issue = super().pull(repo, one), self._forge.issue_of(one)
        del shape["merged"]
        owner = self.user(self.owner(repo))
        sides = {
            side: {"label": f"{repo.owner}:{branch}", "user": owner} | shape[side]
            for side, branch in (("head", one.head), ("base", one.base))
        }
        people = [self.user(self.who(number)) for number in issue.assignees]
        return {
            **dull("pull-request-simple"),
            **(shape | sides),
            "locked": issue.locked,
            "node_id": node_id("PullRequest", one.id),
            "labels": [
                self.label(repo, each) | {"description": each.description or ""}
                for each in self.labels(issue)
            ],
            "assignee": next(iter(people), None),
            "assignees": people,
            **alike("requested_reviewers requested_teams", ()),
            "active_lock_reason": None,
        }

    def full_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request, and whether it can be merged."""
        is_mergeable, state = self.mergeable(repo, one)
        said = {"mergeable": is_mergeable, "mergeable_state": state}
        return self.announced_pull(repo, one) | said

    def announced_pull(self, repo: Repository, one: Pull) -> dict[str, Any]:
        """A pull request as webhooks show it, before anybody knows if it can merge."""
        merged = one.merged_by is not None
        return {
            **dull("pull-request"),
            **self.pull(repo, one),
            "mergeable_state": "unknown",
            "merged": one.merged_at is not None,
            "merged_by": self.user(self.who(one.merged_by)) if merged else None,
        }

    # --- checks and runs ----------------------------------------------------------

    def check_run(self, repo: Repository, one: CheckRun) -> dict[str, Any]:
        shape, site = super().check_run(repo, one), self._context.site
        dull_one = dull("check-run")
        return {
            **dull_one,
            **shape,
            "details_url": one.details_url or shape["html_url"],
            "output": dull_one["output"] | shape["output"],
            "check_suite": {"id": one.id},
            "app": app(site, one.app),
            "pull_requests": (),
        }

    def run(self, repo: Repository, one: Run) -> dict[str, Any]:
        head = self._forge.bare(repo).commit(one.head_sha)
        return {
            **dull("workflow-run"),
            **super().run(repo, one),
            "name": one.path.rpartition("/")[2].rpartition(".")[0],
            "check_suite_id": one.id,
            "check_suite_node_id": node_id("CheckSuite", one.id),
            "pull_requests": (),
            "previous_attempt_url": None,
            "run_started_at": one.started_at or one.created_at,
            **alike("actor triggering_actor", self.user(self.who(one.actor))),
            "head_commit": simple_commit(head) if head is not None else None,
            **alike("repository head_repository", self.repository(repo)),
        }

    def job(self, repo: Repository, one: Run, check: CheckRun | None) -> dict[str, Any]:
        ended = one.updated_at if one.status == "completed" else None
        step: dict[str, Any] = {
            "name": "Set up job",
            "number": 1,
            "started_at": one.created_at,
        }
        step |= {"status": one.status, "conclusion": one.conclusion}
        return {
            **dull("job"),
            **super().job(repo, one, check),
            "run_attempt": 1,
            "html_url": self._context.site.page(
                repo.full_name, "actions", "runs", one.id
            ),
            "completed_at": ended,
            "steps": (step | {"completed_at": ended},),
        }

    def artifact(self, repo: Repository, one: Artifact, of: Run) -> dict[str, Any]:
        api = f"{self._context.site.repo(repo.full_name)}/actions/artifacts/{one.id}"
        return {
            **dull("artifact"),
            **super().artifact(repo, one, of),
            "archive_download_url": f"{api}/zip",
        }


def between(bare: Bare, base: str, head: str) -> list[pygit2.Commit]:
    walk = bare.git.walk(head, SortMode.TOPOLOGICAL | SortMode.REVERSE)
    walk.hide(base)
    return list(walk)


def signature(who: User) -> pygit2.Signature:
    """Sign as an account, now."""
    return pygit2.Signature(who.login, f"{who.id}+{who.login}{NOREPLY}")


def dressed(service: ForgeContext) -> FullRenderer:
    """Let a forge show its records whole; return what shows them."""
    if not isinstance(service.renderer, FullRenderer):
        service.renderer = FullRenderer(service)
    return service.renderer


async def get_user(call: Call) -> Answer:
    who = call.user
    dates = alike("created_at updated_at", who.created_at)
    known = user(call.site, who) | {"name": who.login} | dates
    return Answer({**dull("public-user"), **known})


async def get_repository(call: Call) -> Answer:
    owner = call.renderer.owner(call.repo)
    role = call.service.forge.role(call.repo, call.user)
    face = {
        **dull("full-repository"),
        **_repository(call.site, call.repo, owner),
        "permissions": permissions(role),
        **alike("allow_merge_commit allow_squash_merge allow_rebase_merge", value=True),
    }
    return Answer(face)


async def get_permission(call: Call) -> Answer:
    who = found(call.service.forge.user(call.word("username")))
    role = call.service.forge.role(call.repo, who)
    return Answer(collaborator(call.site, who, role))


_REPO = "/repos/{owner}/{repo}"
ROUTES: Final = (
    Route("GET", "/user", get_user),
    Route("GET", _REPO, get_repository),
    Route("GET", _REPO + "/collaborators/{username}/permission", get_permission),
)
