"""Deleting and transferring issues, as GitHub's GraphQL mutations do.

https://docs.github.com/graphql/reference/mutations#deleteissue
"""

from typing import NoReturn

from msgspec.structs import replace

from brat.forge.resources.forge_records import Issue, Owned, Repository, User
from brat.forge.resources.wire import Refused, not_found
from brat.forge.rest.rest_call import Call, found
from brat.forge.service.running_forge import Service
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.per_store import per_store
from tests.world.github_forge.rest_sub_issues import unlink
from tests.world.github_forge.text_rules import asked_route


class FormerIssue(Owned, frozen=True, kw_only=True):
    """An issue that was deleted or transferred; its id is the issue's."""

    number: int
    became: int | None = None
    """The id of the issue that it is now, in another repository; None: deleted."""


_former = per_store(lambda store: Table(store, FormerIssue, lambda one: one.repo))


def moved_away(call: Call) -> dict[str, str]:
    """Refuse what goes to an issue that is gone: 410 deleted, 301 moved; a guard."""
    number = call.request.match_info.get("number", "")
    if call.found is None or "/issues/" not in asked_route(call):
        return {}
    for former in _former(call.store).of(call.found.id):
        if str(former.number) == number:
            _refuse(call, former)
    return {}


def _refuse(call: Call, former: FormerIssue) -> NoReturn:
    """Say where an issue has gone: 404 to those who may not know its new place.

    https://docs.github.com/rest/issues/issues#get-an-issue
    """
    if former.became is None:
        raise Refused(410, "This issue was deleted")
    issue = found(call.store.issues.get(former.became))
    repo = found(call.store.repositories.get(issue.repo))
    if not call.service.forge.may(repo, call.user, "read"):
        raise not_found()
    where = f"{call.site.api}/repositories/{repo.id}/issues/{issue.number}"
    raise Refused(301, "Moved Permanently", headers={"Location": where})


Found = tuple[Repository, Issue]
"""An issue, and where it is."""


def delete_issue(service: Service, actor: User, gone: Found) -> None:
    """Delete an issue with all that was said in it: from now on it answers 410."""
    (repo, issue), store = gone, service.forge.store
    with store.change():
        service.events.tell(repo, actor, "deleted", issue)
        _leave(store, issue, None)
        for comment in store.comments.of(issue.id):
            store.comments.remove(comment)


def transfer_issue(
    service: Service, actor: User, gone: Found, target: Repository
) -> None:
    """Move an issue to another repository: from now on its old address answers 301.

    It gets a new number and loses its assignees; labels come along where the new
    repository has them, too.
    """
    (old, issue), store, shown = gone, service.forge.store, service.renderer
    with store.change():
        new = service.forge.numbered(target)
        names = {label.name.lower() for label in shown.labels(issue)}
        known = store.labels.of(new.id)
        labels = tuple(label.id for label in known if label.name.lower() in names)
        where = {"repo": new.id, "number": new.last_number}
        moved = store.issues.add(replace(issue, **where, assignees=(), labels=labels))
        became = {
            "new_issue": shown.issue(new, moved),
            "new_repository": shown.repository(new),
        }
        service.events.tell(old, actor, "transferred", issue, changes=became)
        was = {
            "old_issue": shown.issue(old, issue),
            "old_repository": shown.repository(old),
        }
        for comment in store.comments.of(issue.id):
            store.comments.change(comment, **where, issue=moved.id)
        _leave(store, issue, moved.id)
        service.events.tell(new, actor, "opened", moved, changes=was)


def _leave(store: Store, issue: Issue, became: int | None) -> None:
    where = {"repo": issue.repo, "number": issue.number}
    _former(store).put(FormerIssue(id=issue.id, **where, became=became))
    unlink(store, issue.id, became)
    store.issues.remove(issue)
