"""Sentences with which forges refuse requests and pushes, each with its source.

Gitea's were answered by a build after 1.25.4. GitHub's are from its documentation or
from public issues that quote them; names in them are changed.
"""

from typing import Final

from msgspec import Struct

from bot.forge.refusals import ForgeRefusal, refusal_of_push, refusal_of_rest
from bot.forge.rest import Refused

BRANCH: Final = "refs/heads/convoy/g/task-1"


class Sentence(Struct, frozen=True):
    """One sentence of a forge, and the rule that it means."""

    rule: str
    source: str
    said: str
    status: int = 0
    """Of the REST answer; 0: a push was refused."""
    what: str = "POST /repos/you/widgets/issues/1/comments"
    needs: str = ""
    errors: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.rule}-{self.source}-{self.status}"

    @property
    def read(self) -> ForgeRefusal:
        if not self.status:
            return refusal_of_push(self.said, BRANCH)
        error = Refused(
            self.what, self.status, self.said, needs=self.needs, errors=self.errors
        )
        return refusal_of_rest(error)


GITEA: Final = "Gitea"
MERGE: Final = "PUT /repos/you/widgets/pulls/7/merge"
DISPATCH: Final = "POST /repos/you/widgets/actions/workflows/brat-task.yml/dispatches"
TROUBLE: Final = (
    "https://docs.github.com/rest/using-the-rest-api/troubleshooting-the-rest-api"
)

OF_PUSHES: Final = (
    Sentence(
        "queue-wanted",
        "https://github.com/georust/proj/pull/178",
        "GH013: Repository rule violations found for refs/heads/main. - Changes must "
        "be made through the merge queue - Changes must be made through a pull "
        "request. (push declined due to repository rule violations)",
    ),
    Sentence(
        "signature-wanted",
        "https://github.com/RedHatInsights/frontend-components/pull/2368",
        "GH013: Repository rule violations found for refs/heads/master. - Commits must "
        "have verified signatures. Found 1 violation: "
        "72a01922f4422e1723351a6be600f6291664e5cd "
        "(push declined due to repository rule violations)",
    ),
    Sentence(
        "checks-awaited",
        "https://github.com/MaaAssistantArknights/MaaAssistantArknights/issues/9872",
        "GH013: Repository rule violations found for refs/heads/dev. - 2 of 2 required "
        "status checks are expected. (push declined due to repository rule violations)",
    ),
    Sentence(
        "rule-violation",
        "https://github.com/henne49/dbus-opendtu/issues/235",
        "GH013: Repository rule violations found for refs/heads/main. - Changes must "
        "be made through a pull request. "
        "(push declined due to repository rule violations)",
    ),
    Sentence(
        "protected-branch",
        "https://github.com/supportpal/github-gh-cli/issues/47",
        "GH006: Protected branch update failed for refs/heads/main. Changes must be "
        'made through a pull request. Required status check "Build" is expected. '
        "(protected branch hook declined)",
    ),
    Sentence(
        "protected-branch",
        GITEA,
        "Not allowed to push to protected branch main (pre-receive hook declined)",
    ),
    Sentence(
        "protected-branch",
        GITEA,
        "branch main is protected from changing file .gitea/workflows/push.yml "
        "(pre-receive hook declined)",
    ),
    Sentence(
        "protected-branch",
        GITEA,
        "branch main is the default branch and cannot be deleted "
        "(pre-receive hook declined)",
    ),
    Sentence(
        "protected-branch",
        "https://github.com/snu-sf-class/pp202302/issues/4",
        "GitLab: You are not allowed to push code to protected branches on this "
        "project. (pre-receive hook declined)",
    ),
    Sentence(
        "secret-found",
        "https://github.com/palxiao/poster-design/issues/140",
        "GH013: Repository rule violations found for refs/heads/main. - GITHUB PUSH "
        "PROTECTION - Push cannot contain secrets "
        "(push declined due to repository rule violations)",
    ),
    Sentence(
        "file-too-large",
        "https://github.com/upleveled/notion-backup/issues/359",
        "File exports/def.mov is 117.80 MB; this exceeds GitHub's file size limit of "
        "100.00 MB GH001: Large files detected. (pre-receive hook declined)",
    ),
    Sentence(
        "file-too-large",
        GITEA,
        "pack exceeds maximum allowed size remote unpack failed: unpack-objects "
        "abnormal exit (unpacker error)",
    ),
    Sentence(
        "workflows-right",
        "https://github.com/cpp-linter/cpp-linter-action/issues/318",
        "refusing to allow a GitHub App to create or update workflow "
        "`.github/workflows/release.yml` without `workflows` permission",
    ),
    Sentence(
        "missing-permission",
        GITEA,
        "User permission denied for writing. (pre-receive hook declined)",
    ),
    Sentence(
        "missing-permission",
        "https://github.com/celestiaorg/celestia-specs/issues/210",
        "Permission to you/widgets.git denied to brat[bot]. unable to access "
        "'https://github.com/you/widgets.git/': The requested URL returned error: 403",
    ),
    Sentence(
        "missing-permission",
        GITEA,
        "Forbidden unable to access 'http://127.0.0.1:3300/you/widgets.git/': "
        "The requested URL returned error: 403",
    ),
    Sentence(
        "suspended",
        "https://github.com/github/site-policy/issues/1258",
        "Your account is suspended. Please visit https://support.github.com for more "
        "information. The requested URL returned error: 403",
    ),
    Sentence(
        "archived",
        GITEA,
        "This repo is archived. You can view files and clone it, but cannot push or "
        "open issues/pull-requests. The requested URL returned error: 403",
    ),
    Sentence(
        "archived",
        "https://github.com/nextcloud/docker-ci/pull/859",
        "This repository was archived so it is read-only. "
        "Could not read from remote repository.",
    ),
    Sentence("not-found", GITEA, "Repository not found repository '...' not found"),
    Sentence(
        "directory-conflict",
        GITEA,
        "cannot lock ref 'refs/heads/convoy/g': 'refs/heads/convoy/g/task-1' exists; "
        "cannot create 'refs/heads/convoy/g' (failed to update ref)",
    ),
    Sentence(
        "directory-conflict",
        "git 2.39",
        "cannot lock ref 'refs/heads/n/x': cannot process 'refs/heads/n/x' and "
        "'refs/heads/n' at the same time (atomic transaction failed)",
    ),
    Sentence(
        "history-kept",
        "git 2.39",
        "denying non-fast-forward refs/heads/x (you should pull first) "
        "(non-fast-forward)",
    ),
    Sentence(
        "history-kept",
        "git 2.39",
        "denying ref deletion for refs/heads/x (deletion prohibited)",
    ),
    Sentence("hook", GITEA, "policy: no pushes today (pre-receive hook declined)"),
    Sentence("hook", "git 2.39", "hook declined"),
    Sentence("server-trouble", "git 2.39", "failed to update ref"),
    Sentence("unknown", "git 2.39", "deny updating a hidden ref"),
)

OF_REQUESTS: Final = (
    Sentence(
        "missing-permission",
        TROUBLE,
        "Resource not accessible by integration",
        403,
        needs="issues=write; pull_requests=write,contents=read",
    ),
    Sentence(
        "missing-permission",
        GITEA,
        "token does not have at least one of required scope(s), "
        "required=[write:issue], token scope=read:issue,read:repository",
        403,
    ),
    Sentence(
        "pull-request-setting",
        "https://github.com/danielroe/uppt/issues/11",
        "GitHub Actions is not permitted to create or approve pull requests.",
        403,
        "POST /repos/you/widgets/pulls",
    ),
    Sentence("missing-permission", GITEA, "write permission is required", 403),
    Sentence(
        "missing-permission",
        GITEA,
        "user should be an owner or a collaborator with admin write of a repository",
        403,
    ),
    Sentence(
        "missing-permission",
        GITEA,
        "user should have a permission to write to a repo",
        403,
    ),
    Sentence("forbidden", GITEA, "", 403),
    Sentence(
        "locked",
        "https://github.com/probot/stale/issues/25",
        "Unable to create comment because issue is locked.",
        403,
    ),
    Sentence("locked", GITEA, "You cannot comment on a locked issue.", 403),
    Sentence("archived", GITEA, "you/secret-widgets is archived", 423),
    Sentence(
        "archived",
        "https://github.com/mozilla/fxa/pull/293",
        "Repository was archived so is read-only.",
        403,
    ),
    Sentence(
        "suspended",
        "https://github.com/octokit/octokit.rb/pull/1307",
        "This installation has been suspended",
        403,
        "POST /app/installations/1/access_tokens",
    ),
    Sentence(
        "gone",
        "https://docs.github.com/rest/issues/issues#get-an-issue",
        "This issue was deleted",
        410,
        "GET /repos/you/widgets/issues/28",
    ),
    Sentence(
        "issues-disabled",
        "https://github.com/ossf/allstar/issues/64",
        "Issues are disabled for this repo",
        410,
    ),
    Sentence(
        "moved",
        "https://docs.github.com/rest/using-the-rest-api/"
        "best-practices-for-using-the-rest-api#follow-redirects",
        "Moved Permanently",
        301,
    ),
    Sentence("not-found", TROUBLE, "Not Found", 404),
    Sentence(
        "not-found",
        GITEA,
        "not found",
        404,
        "PATCH /repos/you/widgets/issues/comments/9",
        errors=("comment does not exist [id: 9, issue_id: 0]",),
    ),
    Sentence("not-found", GITEA, 'workflow "nope.yml" doesn\'t exist', 404, DISPATCH),
    Sentence("unauthorized", TROUBLE, "Bad credentials", 401),
    Sentence("unauthorized", GITEA, "invalid username, password or token", 401),
    Sentence(
        "validation",
        "https://github.com/suzuki-shunsuke/github-comment/issues/124",
        "Validation Failed",
        422,
        errors=("body is too long (maximum is 65536 characters)",),
    ),
    Sentence("validation", GITEA, "[Title]: Required", 422),
    Sentence(
        "not-mergeable",
        "https://github.com/NixOS/nixpkgs-merge-bot/issues/179",
        "Base branch was modified. Review and try the merge again.",
        405,
        MERGE,
    ),
    Sentence(
        "not-mergeable",
        GITEA,
        "Not all required status checks successful",
        405,
        MERGE,
    ),
    Sentence("not-mergeable", GITEA, "Does not have enough approvals", 405, MERGE),
    Sentence("not-mergeable", GITEA, "head out of date", 409, MERGE),
    Sentence("protected-branch", GITEA, "User not allowed to merge PR", 405, MERGE),
    Sentence(
        "rule-violation",
        "https://github.com/satisfactory-factories/application/issues/67",
        "Repository rule violations found Changes must be made through a pull request.",
        422,
        "PATCH /repos/you/widgets/git/refs/heads/main",
    ),
    Sentence("workflow-disabled", GITEA, "workflow is disabled", 403, DISPATCH),
    Sentence("conflict", GITEA, "merge failed because of conflict", 409, MERGE),
    Sentence(
        "file-too-large",
        "bot/forge/transport.py",
        "GET /x: the response is larger than 100000000 bytes",
        413,
        "GET /repos/you/widgets/actions/artifacts/4/zip",
    ),
    Sentence("unknown", "HTTP", "I'm a teapot", 418),
)
