"""The issue or pull request that a path names: here, gone or moved, locked or not."""

from typing import NoReturn

from brat.forge.resources.issue_resource import FormerIssue, Issue
from brat.forge.resources.pull_resource import Pull
from brat.forge.rest.rest_call import Call, found
from brat.forge.wire import LOCKING, Refused, not_found


def issue_of(call: Call) -> Issue:
    """Return the issue that the path names.

    Raises:
        Refused: 404: there never was one; 410: it was deleted; 301: it was transferred.
    """
    number = call.number()
    for issue in call.store.issues.of(call.repo.id):
        if issue.number == number:
            return issue
    for former in call.store.former_issues.of(call.repo.id):
        if former.number == number:
            _refuse(call, former)
    raise not_found()


def need_conversation(call: Call, issue: Issue, deed: str) -> None:
    """Refuse whoever may not speak in a locked conversation; Apps never may.

    https://docs.github.com/communities/moderating-comments-and-conversations/locking-conversations

    Args:
        call: who wants to.
        issue: what they speak in.
        deed: what they want to do, such as `create comment`.

    Raises:
        Refused: 403: it is locked, and they are an App or may not write here.
    """
    may_write = call.service.forge.may(call.repo, call.user, "write")
    if issue.locked and (call.token.access is not None or not may_write):
        said = f"Unable to {deed} because issue is locked."
        raise Refused(403, said, docs=LOCKING)


def _refuse(call: Call, former: FormerIssue) -> NoReturn:
    """Say where an issue has gone: 404 to those who may not know its new place.

    https://docs.github.com/rest/issues/issues#get-an-issue
    """
    if former.became is None:
        raise Refused(410, "This issue was deleted")
    issue = call.store.issues.get(former.became)
    repo = call.store.repositories.get(issue.repo) if issue else None
    if issue is None or repo is None:
        raise not_found()
    if not call.service.forge.may(repo, call.user, "read"):
        raise not_found()
    where = f"{call.site.api}/repositories/{repo.id}/issues/{issue.number}"
    raise Refused(301, "Moved Permanently", headers={"Location": where})


def pull_of(call: Call) -> Pull:
    """Return the pull request that the path names.

    Raises:
        Refused: 404.
    """
    number = call.number()
    same = [p for p in call.store.pulls.of(call.repo.id) if p.number == number]
    return found(same[0] if same else None)
