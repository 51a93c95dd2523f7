"""A job gets its session's token for the forge's word on it, and nobody else does."""

from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from bot.door import oidc
from bot.door.oidc import issuer_of
from tests.feed.hall import AUDIENCE, JOB, SESSION, Hall, hall, running
from tests.world.cases import looped
from tests.world.issuer import Vouching
from tests.world.rules import NAME

STRANGER = rsa.generate_private_key(65537, 2048)


async def shown(here: Hall, token: str, session: str = SESSION) -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"}
    return await here.send("POST", "token", session, headers=headers)


FORGED: list[tuple[str, object]] = [
    ("iss", "https://token.actions.githubusercontent.com.example.org"),
    ("aud", "https://other.example.com"),
    ("aud", [AUDIENCE, "https://other.example.com"]),
    ("repository_id", "43"),
    ("repository_id", 42),
    ("repository", "pat/other"),
    ("run_id", "102"),
    ("run_attempt", "2"),
    ("event_name", "pull_request"),
    ("workflow_ref", "pat/project/.github/workflows/own.yml@refs/heads/main"),
    ("workflow_ref", JOB["workflow_ref"].replace("main", "convoy/fix-7/task-1")),
    ("job_workflow_ref", "eve/x/.github/workflows/brat-task-live.yml@main"),
    ("exp", 1_000_000_000),
    ("nbf", 4_000_000_000),
    ("iat", 4_000_000_000),
    ("jti", 7),
    *((name, None) for name in ("iss", "aud", "exp", "nbf", "iat", "jti", *JOB)),
]


async def test_a_token_with_one_forged_claim_is_refused(
    tmp_path: Path, github: Vouching
) -> None:
    async with hall(tmp_path, running(), vouches=github.url) as here:
        for claim, forged in FORGED:
            answer = await shown(here, github.token(AUDIENCE, {claim: forged}))
            assert answer.status_code == 401, (claim, forged, answer.text)
            assert "token" not in answer.json()
        sound = await shown(here, github.token(AUDIENCE))

    assert sound.status_code == 200


async def test_a_token_that_the_forge_did_not_sign_is_refused(
    tmp_path: Path, github: Vouching
) -> None:
    public = str(github.key.public_key().public_numbers().n)
    whole = github.token(AUDIENCE)
    head, body, _ = whole.split(".")
    changed = github.token(AUDIENCE, {"run_id": "102"}).split(".")[1]
    forged = [
        github.token(AUDIENCE, key=STRANGER),
        github.token(AUDIENCE, key=STRANGER, header={"kid": "second"}),
        github.token(AUDIENCE, key=public, algorithm="HS256"),
        github.token(AUDIENCE, key="", algorithm="none"),
        github.token(AUDIENCE, algorithm="RS512"),
        github.token(AUDIENCE, header={"kid": ""}),
        f"{head}.{body}.",
        f"{head}.{changed}.{whole.split('.')[2]}",
        "a.b.c",
        "a.b.c" * 1000,
        "-",
    ]
    async with hall(tmp_path, running(), vouches=github.url) as here:
        answers = [await shown(here, token) for token in forged]

    assert [each.status_code for each in answers] == [401] * len(forged)
    assert github.keys_asked == 1  # however many unknown keys are named


async def test_a_token_counts_once_also_after_a_restart(
    tmp_path: Path, github: Vouching
) -> None:
    token, used = github.token(AUDIENCE), tmp_path / "feed.used"
    answers = []
    for _ in range(2):
        async with hall(tmp_path, running(), vouches=github.url) as here:
            answers += [await shown(here, token) for _ in range(2)]

    assert [each.status_code for each in answers] == [200, 401, 401, 401]
    assert answers[1].json() == {"message": "the token has already been used"}
    (kept,) = used.read_text().splitlines()  # what has run out is forgotten
    used.write_text(f"1000000000 {'0' * 64}\n{kept}\nwhat a crash left")
    async with hall(tmp_path, running(), vouches=github.url):
        assert used.read_text() == f"{kept}\n"


async def test_a_token_does_not_open_another_session(
    tmp_path: Path, github: Vouching
) -> None:
    rules = running().started(2)
    async with hall(tmp_path, rules, vouches=github.url) as here:
        other = await shown(here, github.token(AUDIENCE), f"{NAME}/2/1")
        unknown = await shown(here, github.token(AUDIENCE), f"{NAME}/1/2")
        rules.lost(1, "gone")
        ended = await shown(here, github.token(AUDIENCE))

    assert other.status_code == 401
    assert (unknown.status_code, ended.status_code) == (409, 409)


async def test_keys_that_change_are_fetched_again(
    tmp_path: Path, github: Vouching, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(oidc, "KEYS_AGAIN_S", 0.0)
    async with hall(tmp_path, running(), vouches=github.url) as here:
        before = await shown(here, github.token(AUDIENCE))
        github.key, github.kid = STRANGER, "second"
        after = await shown(here, github.token(AUDIENCE))
        github.broken = True
        still = await shown(here, github.token(AUDIENCE))
        unknown = await shown(here, github.token(AUDIENCE, header={"kid": "third"}))

    assert (before.status_code, after.status_code) == (200, 200)
    assert (still.status_code, unknown.status_code) == (200, 503)


async def test_without_an_issuer_nobody_is_believed(
    here: Hall, github: Vouching
) -> None:
    assert (await shown(here, github.token(AUDIENCE))).status_code == 404


@looped(
    ("https://api.github.com", "https://token.actions.githubusercontent.com"),
    ("https://api.acme.ghe.com", "https://token.actions.acme.ghe.com"),
    ("https://git.acme.com/api/v3", "https://git.acme.com/_services/token"),
)
def test_each_forge_has_an_issuer(api: str, issuer: str) -> None:
    assert issuer_of(api) == issuer
