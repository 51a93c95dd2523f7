"""What the tests' forge answers by GraphQL, and that GitHub has all of it."""

from collections.abc import Mapping

import pytest
from graphql import GraphQLNamedType, GraphQLSchema, build_schema

from brat.forge.resources.account_resource import Access
from tests.contract.webhook_schemas import NPM
from tests.forge.mutations import query
from tests.world.forge import REPO, Json, Town
from tests.world.forge_rules import checks, protect, pull_request, rule
from tests.world.github_forge.graphql import SDL
from tests.world.github_forge.mailed_texts import MailedTexts
from tests.world.npm import installed

PULL = """
query ($number: Int!) {
  repository(owner: "alice", name: "app") {
    pullRequest(number: $number) {
      headRefOid merged mergeCommit { oid tree { oid } } mergeable mergeStateStatus
      mergedBy { login } reviewDecision state
    }
  }
}"""
RULE = """
{
  repository(owner: "alice", name: "app") {
    ref(qualifiedName: "refs/heads/main") {
      name prefix target { oid }
      refUpdateRule {
        allowsDeletions allowsForcePushes blocksCreations pattern
        requiredApprovingReviewCount requiredStatusCheckContexts
        requiresCodeOwnerReviews requiresConversationResolution requiresLinearHistory
        requiresSignatures viewerAllowedToDismissReviews viewerCanPush
      }
    }
  }
}"""


def _differences(ours: GraphQLSchema, theirs: GraphQLSchema) -> list[str]:
    """Return what we have otherwise than GitHub."""
    found = []
    for name, kind in ours.type_map.items():
        if name.startswith("__"):
            continue
        known = theirs.type_map.get(name)
        if type(known) is not type(kind):
            found.append(f"{name} is {type(known).__name__}")
            continue
        here, there = _parts(kind), _parts(known)
        found += [
            f"{name}.{part} is {there.get(part)}, not {text}"
            for part, text in here.items()
            if there.get(part) != text
        ]
    return found


def _parts(kind: GraphQLNamedType) -> Mapping[str, str]:
    """Return fields with their types and arguments, values and interfaces."""
    parts = {f"{each} (value)": "" for each in getattr(kind, "values", {})}
    parts |= {f"{each.name} (face)": "" for each in getattr(kind, "interfaces", ())}
    for name, field in getattr(kind, "fields", {}).items():
        parts[name] = str(field.type)
        for word, argument in getattr(field, "args", {}).items():
            parts[f"{name}({word})"] = f"{argument.type} = {argument.default_value}"
    return parts


@pytest.mark.needs("npm")
def test_github_has_all_that_the_forge_has() -> None:
    file = installed(NPM) / "@octokit/graphql-schema/schema.graphql"

    published = build_schema(file.read_text(), assume_valid=True)

    assert _differences(build_schema(SDL.read_text()), published) == []


async def ask(here: Town, document: str, by: str = "bot", **named: Json) -> Json:
    """Ask for something that must be there."""
    answer = await query(here, document, named, by=by)
    assert "errors" not in answer, answer
    return answer["data"]["repository"]


async def test_a_pull_request_tells_what_became_of_it(here: Town) -> None:
    pull = await here.pull(await here.clone())
    before = (await ask(here, PULL, number=1))["pullRequest"]
    made = (await here.ask("PUT", "pulls/1/merge")).json()["sha"]

    after = (await ask(here, PULL, number=1))["pullRequest"]

    assert before == {
        "headRefOid": pull["head"]["sha"],
        "merged": False,
        "mergeCommit": None,
        "mergeable": "MERGEABLE",
        "mergeStateStatus": "CLEAN",
        "mergedBy": None,
        "reviewDecision": None,
        "state": "OPEN",
    }
    assert (after["state"], after["merged"]) == ("MERGED", True)
    assert after["mergeCommit"]["oid"] == made
    assert after["mergedBy"] == {"login": "brat[bot]"}
    commit = here.forge.bare(here.forge.known(REPO)).commit(made)
    assert commit is not None
    assert after["mergeCommit"]["tree"]["oid"] == str(commit.tree_id)


async def test_a_pull_request_tells_what_its_reviews_come_to(here: Town) -> None:
    await rule(here, pull_request(1, dismiss_stale_reviews_on_push=True))
    checkout = await here.clone()
    await here.pull(checkout)
    seen = []

    async def look() -> None:
        pull = (await ask(here, PULL, number=1))["pullRequest"]
        seen.append((pull["reviewDecision"], pull["mergeStateStatus"]))

    await look()
    for event in ("REQUEST_CHANGES", "APPROVE"):
        await here.post("pulls/1/reviews", {"event": event, "body": "."}, by="alice")
        await look()
    await checkout.commit("more.txt", "more")
    await checkout.git("push", "--quiet", "origin", "work")
    await look()

    assert seen == [
        ("REVIEW_REQUIRED", "BLOCKED"),
        ("CHANGES_REQUESTED", "BLOCKED"),
        ("APPROVED", "CLEAN"),
        ("REVIEW_REQUIRED", "BLOCKED"),
    ]


async def test_a_branch_tells_its_own_protection_to_all_who_may_read(
    here: Town,
) -> None:
    tip = here.forge.bare(here.forge.known(REPO)).tip("main")
    free = (await ask(here, RULE, by="mallory"))["ref"]
    reviews = {"required_approving_review_count": 2}
    await protect(
        here,
        "ci",
        "lint",
        required_pull_request_reviews=reviews,
        required_linear_history=True,
    )

    bound = (await ask(here, RULE, by="mallory"))["ref"]

    assert free == {
        "name": "main",
        "prefix": "refs/heads/",
        "target": {"oid": tip},
        "refUpdateRule": None,
    }
    assert bound["refUpdateRule"] == {
        "allowsDeletions": False,
        "allowsForcePushes": False,
        "blocksCreations": False,
        "pattern": "main",
        "requiredApprovingReviewCount": 2,
        "requiredStatusCheckContexts": ["ci", "lint"],
        "requiresCodeOwnerReviews": False,
        "requiresConversationResolution": False,
        "requiresLinearHistory": True,
        "requiresSignatures": False,
        "viewerAllowedToDismissReviews": False,
        "viewerCanPush": False,
    }
    assert (await ask(here, RULE))["ref"]["refUpdateRule"]["viewerCanPush"] is True


async def test_rulesets_are_not_told_as_protection(here: Town) -> None:
    await rule(here, checks("ci"))

    assert (await ask(here, RULE))["ref"]["refUpdateRule"] is None


async def test_an_issue_tells_when_its_text_was_edited(here: Town) -> None:
    number = await here.issue()
    document = """
    query ($number: Int!) {
      repository(owner: "alice", name: "app") {
        issue(number: $number) { lastEditedAt }
      }
    }"""
    never = (await ask(here, document, number=number))["issue"]
    await here.ask("PATCH", f"issues/{number}", {"title": "Other"}, by="alice")
    renamed = (await ask(here, document, number=number))["issue"]
    await here.ask("PATCH", f"issues/{number}", {"body": "Other"}, by="alice")

    edited = (await ask(here, document, number=number))["issue"]

    assert never == renamed == {"lastEditedAt": None}
    assert edited["lastEditedAt"] == (await here.get(f"issues/{number}"))["updated_at"]


@pytest.mark.parametrize(
    ("document", "kind", "said"),
    [
        (
            '{ repository(owner: "alice", name: "none") { id } }',
            "NOT_FOUND",
            "Could not resolve to a Repository with the name 'alice/none'.",
        ),
        (
            '{ repository(owner: "alice", name: "app") { issue(number: 9) { id } } }',
            "NOT_FOUND",
            "Could not resolve to an Issue with the number of 9.",
        ),
        (
            '{ node(id: "nobody") { id } }',
            "NOT_FOUND",
            "Could not resolve to a node with the global id of 'nobody'.",
        ),
    ],
)
async def test_what_is_not_there_is_said_in_githubs_words(
    here: Town, document: str, kind: str, said: str
) -> None:
    answer = await query(here, document)

    (error,) = answer["errors"]
    assert (error["type"], error["message"]) == (kind, said)


async def test_a_field_that_github_lacks_is_an_error(here: Town) -> None:
    answer = await query(here, "{ viewer { shoeSize } }")

    assert answer["data"] is None
    assert "shoeSize" in answer["errors"][0]["message"]


async def test_an_installation_writes_what_its_permissions_say(here: Town) -> None:
    bot = here.forge.user("brat[bot]")
    assert bot is not None
    access = Access(
        repos=(here.forge.known(REPO).id,),
        permissions=(("issues", "read"),),
        expires_at="2999-01-01T00:00:00Z",
    )
    here.tokens["job"] = here.forge.keys.add(bot, access=access)
    issue = await here.get(f"issues/{await here.issue()}")
    document = """
    mutation ($id: ID!) { deleteIssue(input: {issueId: $id}) { clientMutationId } }"""

    answer = await query(here, document, {"id": issue["node_id"]}, by="job")

    (error,) = answer["errors"]
    said = "Resource not accessible by integration"
    assert (error["type"], error["message"]) == ("FORBIDDEN", said)


async def test_a_comment_tells_whether_it_came_by_mail(here: Town) -> None:
    await here.issue()
    made = [await here.post("issues/1/comments", {"body": text}) for text in "ab"]
    MailedTexts(here.forge.folder).mark(made[1]["id"])
    asked = "query ($id: ID!) { node(id: $id) { ... on Comment { createdViaEmail } } }"

    answers = [await query(here, asked, {"id": one["node_id"]}) for one in made]

    assert [one["data"]["node"] for one in answers] == [
        {"createdViaEmail": False},
        {"createdViaEmail": True},
    ]
