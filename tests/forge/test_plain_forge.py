"""The forge as it is in local mode, without the tests' GitHub and without rules."""

from bot.forge import payloads
from bot.forge.payloads import Payload
from tests.world.forge import REPO, Town
from tests.world.receiver import receiving

NOT_HERE = {
    *("sub_issues", "blockers", "open_blockers", "mergeable_state"),
    *("assignee", "assigner", "merged_by"),
    *("pull_request", "suite", "maintains"),
}
"""What only GitHub has, and what only some answers have: each has a default."""
READ: list[tuple[str, type[Payload]]] = [
    ("/user", payloads.Account),
    ("", payloads.Repository),
    ("collaborators/alice/permission", payloads.Permission),
    ("issues/1", payloads.Issue),
    ("issues", payloads.Issue),
    ("issues/1/events", payloads.IssueEvent),
    ("issues/1/comments", payloads.Comment),
    ("issues/comments", payloads.Remarked),
    ("pulls/2", payloads.Pull),
    ("pulls", payloads.Pull),
]


async def test_an_answer_has_each_field_that_brat_reads(plain: Town) -> None:
    await plain.issue()
    await plain.post("issues/1/labels", {"labels": ["brat"]})
    await plain.post("issues/1/comments", {"body": "/brat status"})
    pull = await plain.pull(await plain.clone())
    check = {"name": "lint", "head_sha": pull["head"]["sha"]}
    made = await plain.post("check-runs", check)
    answers = [(model, path, await plain.get(path)) for path, model in READ]
    answers += [
        (payloads.CheckRun, "check-runs", made),
        (payloads.CheckOutput, "check-runs", made["output"]),
        (payloads.App, "check-runs", made["app"]),
    ]

    for model, path, told in answers:
        shown = told if isinstance(told, list) else [told]
        assert shown, path
        for one in shown:
            assert {*model.model_fields} - one.keys() - NOT_HERE == set(), path
            model.model_validate(one)


async def test_the_bot_is_not_told_what_it_did_itself(plain: Town) -> None:
    async with receiving() as bot:
        plain.forge.add_hook(REPO, bot.url, "")
        await plain.post(f"issues/{await plain.issue()}/comments", {"body": "Hello"})
        await plain.pull(await plain.clone())
        await bot.got("push")

    assert sorted(bot.kinds) == ["issues.opened", "push"]


async def test_a_ref_moves_where_git_lets_it(plain: Town) -> None:
    checkout = await plain.clone()
    await checkout.commit("a.txt", "a")
    await checkout.git("push", "--quiet", "origin", "HEAD", "HEAD:old")
    for words, said in (
        ((":main",), "deletion of the current branch prohibited"),
        (("HEAD:refs/pull/1/head",), "deny updating a hidden ref"),
        (("HEAD~1:main",), "non-fast-forward"),
        (("HEAD:work", "HEAD:other"), ""),
        (("--atomic", "HEAD:refs/x/y", ":refs/heads/old"), ""),
        (("--force", "HEAD~1:main"), ""),
    ):
        bare = plain.forge.bare(plain.forge.known(REPO))
        before = bare.refs()

        done = await checkout.run("push", "origin", *words, check=False)

        assert (done.status == 0) == (not said), words
        assert said in done.stderr
        assert (bare.refs() == before) == bool(said), words
