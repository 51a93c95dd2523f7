"""A bot asks the forge whether the allowed signers on the default branch count."""

import pytest

from bot.serving import bot_service
from grite.signatures import SIGNERS_FILE, signer_line
from tests.bot.serving.hosted_town import alone
from tests.world.forge import Town
from tests.world.log_keys import OTHER_KEY

RULES = {
    "name": "guarded",
    "target": "branch",
    "enforcement": "active",
    "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": []}},
    "rules": [
        {
            "type": "pull_request",
            "parameters": {
                "required_approving_review_count": 1,
                "dismiss_stale_reviews_on_push": False,
                "require_code_owner_review": False,
                "require_last_push_approval": False,
                "required_review_thread_resolution": False,
            },
        }
    ],
}


@pytest.mark.parametrize("guarded", [False, True])
async def test_the_file_counts_where_the_branch_is_guarded(
    here: Town, *, guarded: bool
) -> None:
    checkout = await here.clone("alice")
    await checkout.commit(SIGNERS_FILE, signer_line(OTHER_KEY.public, "another bot"))
    await checkout.git("push", "--quiet", "origin", "main")
    if guarded:
        await here.post("rulesets", RULES, by="alice")
    said: list[str] = []

    async with bot_service.opened(alone(here), said.append) as loop:
        for _ in range(2):
            assert not await bot_service.tick(loop)
        mirror = loop.context.mirror

        assert mirror.believes_branch == guarded
        keys = {signer.public for signer in mirror.authority.signers.signers}
        assert (OTHER_KEY.public in keys) == guarded
    (told,) = [each for each in said if each.startswith("allowed signers: ")]
    assert ("is not used" in told) != guarded


async def test_without_a_file_nothing_is_asked(here: Town) -> None:
    said: list[str] = []
    async with bot_service.opened(alone(here), said.append) as loop:
        assert not await bot_service.tick(loop)

        assert loop.context.mirror.believes_branch is None
    assert said == []
