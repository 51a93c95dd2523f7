"""What is wrong with an App or a repository is found, with what puts it right."""

from collections.abc import Mapping

import pytest

from bot.forge.app_auth import PERMISSIONS
from bot.serving.examination import Finding, examined
from bot.serving.github_app import EVENTS
from bot.settings.bot_settings import ServiceSettings
from brat.repository.workflow_files import is_ours
from tests.bot.serving.hosted_town import helper, hosting
from tests.world.forge import Town, until
from tests.world.github_forge.webhooks import deliveries_in
from tests.world.receiver import receiving

pytestmark = pytest.mark.layer("landing")


def app(
    here: Town,
    permissions: Mapping[str, str] = PERMISSIONS,
    events: tuple[str, ...] = EVENTS,
    hook: str = "",
) -> ServiceSettings:
    told = (hook, "made-up-secret") if hook else None
    made = helper(here, permissions=permissions, events=events, hook=told)
    return hosting(here, app="helper", allowed_owners=("alice",), **made)


async def looked(hosting: ServiceSettings, *, fix: bool = False) -> list[Finding]:
    return [found async for found in examined(hosting, is_ours, fix=fix)]


def about(found: list[Finding], word: str) -> Finding:
    return next(one for one in found if word in one.said)


async def test_of_a_sound_app_only_its_missing_webhook_is_a_fault(here: Town) -> None:
    found = await looked(app(here))

    assert about(found, "the App is").said == "the App is helper"
    assert about(found, "has all permissions").grade == "ok"
    assert not any("is not subscribed to" in one.said for one in found)
    assert about(found, "whether GitHub Actions is enabled").grade == "note"
    webhook = about(found, "webhook")
    assert (webhook.grade, webhook.said) == ("fault", "the webhook has no address")
    assert "--poll" in webhook.mend


async def test_a_missing_permission_and_event_are_named(here: Town) -> None:
    fewer = {**PERMISSIONS, "checks": "read"}
    hosting = app(here, permissions=fewer, events=("issues",))
    hosting = hosting.model_copy(update={"allowed_owners": ("nobody",)})

    found = await looked(hosting)

    lacks = about(found, "lacks")
    assert (lacks.grade, lacks.said) == ("fault", "the App lacks checks: write")
    assert "permissions and events" in lacks.mend
    assert "push" in about(found, "is not subscribed to").said
    assert about(found, "no repository").grade == "fault"


async def test_a_workflow_that_is_missing_is_a_fault_and_a_label_is_made_when_asked(
    here: Town,
) -> None:
    told = {"label": "do it", "workflow": "no-such.yml"}
    hosting = app(here).model_copy(update=told)

    missing = await looked(hosting)
    workflow = about(missing, "workflow no-such.yml")
    assert workflow.grade == "fault"
    assert "brat init --hosted" in workflow.mend
    assert about(missing, "there is no label").mend == "use --fix to create it"
    made = about(await looked(hosting, fix=True), "label do it")
    assert "created the label" in made.said
    assert about(await looked(hosting), "label do it").grade == "ok"


async def test_deliveries_that_fail_are_explained_and_their_address_is_tried(
    here: Town,
) -> None:
    async with receiving() as receiver:
        hosting, url = app(here, hook=receiver.url), receiver.url
        receiver.status = 401
        await here.issue()

        sent = deliveries_in(here.forge.store)
        await until(lambda: sent.all() and not any(each.pending for each in sent.all()))

        failing = about(await looked(hosting), "deliveries")
        assert failing.said.endswith("failed (newest: status 401)")
        assert "secrets do not match" in failing.mend
        for status, grade in ((401, "ok"), (403, "note"), (404, "fault")):
            receiver.status = status
            assert about(await looked(hosting), url).grade == grade, status

    assert "cannot be reached" in about(await looked(hosting), url).said
    found = await looked(hosting.model_copy(update={"app": "brat", "secret": ""}))
    assert about(found, "call the App brat").grade == "fault"
    assert about(found, "no secret").grade == "note"
