"""Deleting and transferring issues, as GitHub's GraphQL mutations do.

https://docs.github.com/graphql/reference/mutations#deleteissue
"""

from msgspec.structs import replace

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.issue_resource import FormerIssue, Issue
from brat.forge.service.running_forge import Service


def delete_issue(service: Service, actor: User, issue: Issue) -> None:
    """Delete an issue with all that was said in it: from now on it answers 410."""
    repo = _home(service, issue)
    with service.forge.store.change():
        service.events.issue(repo, actor, "deleted", issue)
        _leave(service, issue, None)
        for comment in service.forge.store.comments.of(issue.id):
            _drop_reactions(service, comment.id)
            service.forge.store.comments.remove(comment)
        _drop_reactions(service, issue.id)


def transfer_issue(
    service: Service, actor: User, issue: Issue, target: Repository
) -> Issue:
    """Move an issue to another repository: from now on its old address answers 301.

    It gets a new number and loses its assignees; labels come along where the new
    repository has them, too.
    """
    old, store = _home(service, issue), service.forge.store
    shown = service.renderer
    with store.change():
        new = service.forge.numbered(target)
        names = {label.name.lower() for label in shown.labels(issue)}
        moved = store.issues.put(
            replace(
                issue,
                id=store.next_id(),
                repo=new.id,
                number=new.last_number,
                assignees=(),
                labels=tuple(
                    label.id
                    for label in store.labels.of(new.id)
                    if label.name.lower() in names
                ),
            )
        )
        became = {
            "new_issue": shown.issue(new, moved),
            "new_repository": shown.repository(new),
        }
        service.events.issue(old, actor, "transferred", issue, changes=became)
        was = {
            "old_issue": shown.issue(old, issue),
            "old_repository": shown.repository(old),
        }
        for comment in store.comments.of(issue.id):
            store.comments.put(
                replace(comment, repo=new.id, issue=moved.id, number=moved.number)
            )
        for reaction in store.reactions.of(issue.id):
            store.reactions.put(replace(reaction, subject=moved.id))
        _leave(service, issue, moved.id)
        service.events.issue(new, actor, "opened", moved, changes=was)
    return moved


def _home(service: Service, issue: Issue) -> Repository:
    repo = service.forge.store.repositories.get(issue.repo)
    assert repo is not None
    return repo


def _leave(service: Service, issue: Issue, became: int | None) -> None:
    store = service.forge.store
    store.former_issues.put(
        FormerIssue(id=issue.id, repo=issue.repo, number=issue.number, became=became)
    )
    for event in store.issue_events.of(issue.id):
        store.issue_events.remove(event)
    store.issues.remove(issue)


def _drop_reactions(service: Service, subject: int) -> None:
    for reaction in service.forge.store.reactions.of(subject):
        service.forge.store.reactions.remove(reaction)
