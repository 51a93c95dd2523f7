"""What the forge answers without the tests' GitHub: every field that brat reads."""

from pathlib import Path

import httpx

from bot.forge import payloads
from bot.forge.payloads import Payload
from brat.forge import Forge, serving
from tests.world.forge import DEADLINE_S, Town, settle_in

NOT_HERE = {
    *("sub_issues_summary", "issue_dependencies_summary"),
    *("assignee", "assigner"),
    "pull_request",
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


async def test_an_answer_has_each_field_that_brat_reads(
    tmp_path: Path, source: Path
) -> None:
    with Forge(tmp_path / "forge") as forge:
        tokens = settle_in(forge, source)
        async with serving(forge) as url, httpx.AsyncClient(timeout=DEADLINE_S) as http:
            here = Town(forge, url, tokens, http, tmp_path)
            await here.issue()
            await here.post("issues/1/labels", {"labels": ["brat"]})
            await here.post("issues/1/comments", {"body": "/brat status"})
            for method, locked in (("PUT", True), ("DELETE", False)):  # people try it
                await here.ask(method, "issues/1/lock", by="alice")
                assert (await here.get("issues/1"))["locked"] is locked
            pull = await here.pull(await here.clone())
            check = {"name": "lint", "head_sha": pull["head"]["sha"]}
            made = await here.post("check-runs", check)
            answers = [(model, path, await here.get(path)) for path, model in READ]

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
