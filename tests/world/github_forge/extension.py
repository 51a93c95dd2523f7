"""What GitHub has beyond the local forge: Apps, sign-in, GraphQL, more of REST."""

from dataclasses import replace
from typing import Any, Final

from brat.forge.resources.account_resource import Repository, User
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from brat.forge.service.webhook_deliveries import Kind
from tests.world import traffic
from tests.world.github_forge import (
    body_faults,
    manifests,
    rest_apps,
    rest_archiving,
    rest_assignees,
    rest_collaborators,
    rest_commit_pulls,
    rest_commits,
    rest_environments,
    rest_hooks,
    rest_job_tokens,
    rest_labels,
    rest_merges,
    rest_pull_changes,
    rest_reactions,
    rest_refs,
    rest_reviews,
    rest_runs,
    rest_secrets,
    rest_statuses,
    rest_variables,
    sealed_secrets,
    text_forms,
)
from tests.world.github_forge.apps import Apps
from tests.world.github_forge.check_pages import CheckPages
from tests.world.github_forge.graphql import GraphQL
from tests.world.github_forge.injected_faults import Faults
from tests.world.github_forge.issue_removal import moved_away
from tests.world.github_forge.manifests import Manifests
from tests.world.github_forge.profiles import chosen
from tests.world.github_forge.rate_limits import Limits
from tests.world.github_forge.rest_locks import open_to
from tests.world.github_forge.rules import rest_protection, rest_rulesets
from tests.world.github_forge.rules.incoming_pack import sweep
from tests.world.github_forge.rules.receive_pack import receive_pack
from tests.world.github_forge.rules.rule_enforcement import RuleEnforcement
from tests.world.github_forge.sign_in import OAuth
from tests.world.github_forge.text_forms import negotiated
from tests.world.github_forge.text_limits import within_limits
from tests.world.github_forge.token_permissions import TokenPermissions
from tests.world.github_forge.workflow_triggers import EveryFile, SessionFiles

EXCHANGES: Final = "exchanges.jsonl"
UNSERVED: Final = rest_commit_pulls.UNSERVED
DEEDS: Final = (
    *rest_statuses.ROUTES,
    *rest_runs.ROUTES,
    *rest_assignees.ROUTES,
    *rest_labels.ROUTES,
    *rest_reactions.ROUTES,
    *text_forms.ROUTES,
    *rest_merges.ROUTES,
    *rest_pull_changes.ROUTES,
    *rest_reviews.ROUTES,
)
"""What people do on GitHub, and brat never."""
GUARDS: Final = (negotiated, moved_away, open_to, within_limits)
ROUTES: Final = (
    *DEEDS,
    *rest_protection.ROUTES,
    *rest_rulesets.ROUTES,
    *rest_refs.ROUTES,
    *rest_commit_pulls.ROUTES,
    *rest_commits.ROUTES,
    *rest_hooks.ROUTES,
    *rest_secrets.ROUTES,
    *sealed_secrets.ROUTES,
    *rest_variables.ROUTES,
    *rest_apps.ROUTES,
    *manifests.ROUTES,
    *rest_collaborators.ROUTES,
    *rest_archiving.ROUTES,
    *rest_environments.ROUTES,
    *rest_job_tokens.ROUTES,
)


def sessions(service: Service) -> Extension:
    """Let another program start the sessions of a forge, and add nothing of GitHub."""
    service.starter.files = files = SessionFiles(service)
    return Extension(pages=files.routes())


def recorded(service: Service) -> Extension:
    """Write what is asked of a forge to a file beside its folder, and add nothing."""
    file = service.forge.folder.parent / EXCHANGES
    return traffic.recorded(file)(service)


def people(_: Service) -> Extension:
    """Let people do what they can do on GitHub, and add nothing else of it."""
    return Extension(routes=DEEDS, guards=GUARDS)


def rules(service: Service) -> Extension:
    """Hold a served forge to rules, and give it nothing else of GitHub."""
    sweep(service.forge)
    return Extension(
        routes=(*DEEDS, *rest_protection.ROUTES, *rest_rulesets.ROUTES),
        guards=GUARDS,
        judge=RuleEnforcement(service),
        receive=receive_pack,
    )


def github(service: Service) -> Extension:
    """Make a served forge as much like GitHub as the tests ask for.

    Which GitHub is what `profiles.choose` said before.
    """
    apps, profile = Apps(service.forge), chosen(service.forge.folder)

    def hear(
        repo: Repository, _actor: User, kind: Kind, payload: dict[str, Any]
    ) -> None:
        apps.hear(service.webhooks, repo, kind, payload)

    service.events.heard_by.append(hear)
    files = (
        EveryFile(service) if service.starter.how.executor else SessionFiles(service)
    )
    service.starter.files = files
    service.fault_words = body_faults.words
    if isinstance(files, EveryFile):
        service.events.heard_by.append(files.hear)
    return replace(
        rules(service),
        routes=(*UNSERVED, *ROUTES),
        permissions=TokenPermissions(),
        pages=(
            *files.routes(),
            *OAuth(service).routes(),
            *CheckPages(service).routes(),
            *Manifests(service).routes(),
            *GraphQL(service).routes(),
        ),
        guards=(
            *GUARDS,
            profile.guard,
            *(() if profile.is_server else (Limits(service.forge).count,)),
            Faults(service.forge.folder).guard,
        ),
    )
