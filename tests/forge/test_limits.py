"""How much may be said, and that nothing more is written to an archive."""

import pytest

from tests.world.forge import Json, Town

pytestmark = pytest.mark.layer("landing")

LONG = "{} is too long (maximum is {} characters)"
BODY, LINE = "x" * 65536, "x" * 256


@pytest.mark.parametrize(
    ("method", "path", "body", "field", "most"),
    [
        ("POST", "issues", {"title": "x", "body": BODY + "x"}, "body", 65536),
        ("POST", "issues", {"title": LINE + "x"}, "title", 256),
        ("PATCH", "issues/1", {"body": BODY + "x"}, "body", 65536),
        ("POST", "issues/1/comments", {"body": BODY + "x"}, "body", 65536),
        ("PATCH", "pulls/2", {"body": BODY + "x"}, "body", 65536),
        ("PATCH", "pulls/2", {"title": LINE + "x"}, "title", 256),
        ("POST", "labels", {"name": "x" * 51}, "name", 50),
        ("POST", "labels", {"name": "x", "description": "x" * 101}, "description", 100),
        ("POST", "issues/1/labels", {"labels": ["x" * 51]}, "name", 50),
        (
            "POST",
            "statuses/{sha}",
            {"state": "success", "description": "x" * 141},
            "description",
            140,
        ),
    ],
)
async def test_what_is_too_long_is_refused(
    here: Town, method: str, path: str, body: Json, field: str, most: int
) -> None:
    await here.issue()
    sha = (await here.pull(await here.clone()))["head"]["sha"]
    where = path.replace("{sha}", sha)

    refused = await here.ask(method, where, body)
    cut = {key: shorter(text) for key, text in body.items()}
    taken = await here.ask(method, where, cut)

    assert refused.status_code == 422
    assert refused.json()["message"] == "Validation Failed"
    (error,) = refused.json()["errors"]
    assert error["message"] == LONG.format(field, most)
    assert (error["field"], error["code"]) == (field, "custom")
    assert taken.status_code in {200, 201}


def shorter(said: Json) -> Json:
    """Return a text that is one character shorter, when it is long."""
    if isinstance(said, list):
        return [shorter(each) for each in said]
    return said[:-1] if len(said) > 50 else said


@pytest.mark.parametrize("field", ["summary", "text"])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x" * 65536, "Only 65535 characters are allowed; 65536 were supplied."),
        ("ü" * 40000, "exceeds a maximum bytesize of 65535"),
    ],
)
async def test_a_check_that_says_too_much_is_refused(
    here: Town, field: str, text: str, said: str
) -> None:
    sha = (await here.get("branches/main"))["commit"]["sha"]
    output = {"title": "x", "summary": "x", field: text}
    asked = {"name": "ci", "head_sha": sha, "output": output}

    refused = await here.ask("POST", "check-runs", asked)
    taken = await here.ask(
        "POST", "check-runs", asked | {"output": output | {field: "x" * 65535}}
    )

    assert (refused.status_code, taken.status_code) == (422, 201)
    assert said in refused.text


async def test_a_check_takes_fifty_annotations_at_once(here: Town) -> None:
    sha = (await here.get("branches/main"))["commit"]["sha"]
    note = {
        "path": "a",
        "start_line": 1,
        "end_line": 1,
        "annotation_level": "notice",
        "message": "x",
    }
    output = {"title": "x", "summary": "x", "annotations": [note] * 51}
    asked = {"name": "ci", "head_sha": sha, "output": output}

    refused = await here.ask("POST", "check-runs", asked)

    assert refused.status_code == 422
    said = "No more than 50 items are allowed; 51 were supplied."
    assert said in refused.json()["message"]


@pytest.mark.parametrize(
    ("body", "field"),
    [({"name": " "}, "name"), ({"name": "x", "color": "red"}, "color")],
)
async def test_a_label_that_cannot_be_is_refused(
    here: Town, body: Json, field: str
) -> None:
    refused = await here.ask("POST", "labels", body)

    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == field
