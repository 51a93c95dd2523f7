"""What GitHub has beyond the local forge: Apps, sign-in, GraphQL, more of REST."""

from dataclasses import replace
from typing import Any, Final

from brat.forge.resources.forge_records import Repository, User
from brat.forge.rest.rest_call import Extension
from brat.forge.service.announcements import Kind
from brat.forge.service.running_forge import Service
from tests.world import traffic
from tests.world.github_forge import (
    rest_apps,
    rest_commits,
    rest_environments,
    rest_issues,
    rest_pulls,
    rest_secrets,
    rest_statuses,
    rest_sub_issues,
    workflow_runs,
)
from tests.world.github_forge.apps import Apps
from tests.world.github_forge.graphql import GraphQL
from tests.world.github_forge.injected_faults import Faults
from tests.world.github_forge.issue_removal import moved_away
from tests.world.github_forge.profiles import chosen
from tests.world.github_forge.rest_apps import TokenPermissions
from tests.world.github_forge.rules import rest_rules
from tests.world.github_forge.rules.receive_pack import receive_pack
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.text_rules import within_limits
from tests.world.github_forge.web_pages import CheckPages, OAuth
from tests.world.github_forge.webhooks import kept_webhooks, whole
from tests.world.github_forge.workflow_runs import EveryFile, SessionFiles

EXCHANGES: Final = "exchanges.jsonl"
DEEDS: Final = (
    *rest_rules.ROUTES,
    *rest_statuses.ROUTES,
    *workflow_runs.ROUTES,
    *rest_issues.ROUTES,
    *rest_sub_issues.ROUTES,
    *rest_pulls.ROUTES,
)
"""What people do on GitHub, and brat never."""
GUARDS: Final = (moved_away, within_limits)
ROUTES: Final = (
    *DEEDS,
    *rest_commits.ROUTES,
    *rest_secrets.ROUTES,
    *rest_apps.ROUTES,
    *rest_environments.ROUTES,
)


def sessions(service: Service) -> Extension:
    """Let another program start the sessions of a forge, and add nothing of GitHub."""
    service.starter.files = files = SessionFiles(service)
    return Extension(pages=files.routes())


def recorded(service: Service) -> Extension:
    """Write what is asked of a forge to a file beside its folder, and add nothing."""
    file = service.forge.folder.parent / EXCHANGES
    return traffic.recorded(file)(service)


def people(service: Service) -> Extension:
    """Let people do what they can do on GitHub, and add nothing else of it."""
    rest_sub_issues.summaries(service)
    whole(service)
    return Extension(routes=DEEDS, guards=GUARDS)


def rules(service: Service) -> Extension:
    """Hold a served forge to rules, and give it nothing else of GitHub."""
    rest_sub_issues.summaries(service)
    whole(service).merge_state = RuleEnforcement(service).merge_state
    return Extension(routes=DEEDS, guards=GUARDS, receive=receive_pack)


def github(service: Service) -> Extension:
    """Make a served forge as much like GitHub as the tests ask for.

    Which GitHub is what `profiles.choose` said before.
    """
    apps, profile = Apps(service.forge), chosen(service.forge.folder)
    extension = rules(service)

    def hear(
        repo: Repository, _actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        apps.hear(kept_webhooks(service), repo, kind, payload)

    service.events.heard_by.append(hear)
    files = (
        EveryFile(service) if service.starter.how.executor else SessionFiles(service)
    )
    service.starter.files = files
    if isinstance(files, EveryFile):
        service.events.heard_by.append(files.hear)
    return replace(
        extension,
        routes=ROUTES,
        permissions=TokenPermissions(),
        pages=(
            *files.routes(),
            *OAuth(service).routes(),
            *CheckPages(service).routes(),
            *GraphQL(service).routes(),
        ),
        guards=(*GUARDS, profile.guard, Faults(service.forge.folder).guard),
    )
