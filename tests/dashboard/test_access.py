"""Who may look and who may press a button."""

from tests.dashboard.conftest import SHOWS, TOKEN, blocked, opens
from tests.world.rules import NAME

RETRY = f"/convoys/{NAME}/tasks/1/retry"


async def test_the_printed_address_becomes_a_cookie_and_buttons() -> None:
    async with opens(blocked(), knows=False) as visit:
        before = await visit.http.get("/")
        answer = await visit.http.get("/", params={"token": TOKEN})
        after = await visit.text("/")
        pressed = await visit.http.post(RETRY, headers={"Origin": visit.url})

    cookie = answer.headers["Set-Cookie"]
    assert (answer.status_code, answer.headers["Location"]) == (303, "/")
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert (before.status_code, "<button" in after) == (403, True)
    assert pressed.status_code == 303
    assert visit.rules.task(1).state == "queued"


async def test_the_cookie_holds_the_port_and_never_the_token() -> None:
    """Browsers send it to every port of the machine."""
    async with (
        opens(blocked(), knows=False) as one,
        opens(blocked(), knows=False) as other,
    ):
        answer = await one.http.get("/", params={"token": TOKEN})
        cookie = answer.headers["Set-Cookie"].partition(";")[0]
        name, _, value = cookie.partition("=")
        renamed = f"brat-dashboard-{other.http.base_url.port}={value}"
        assert name == f"brat-dashboard-{one.http.base_url.port}"
        assert TOKEN not in cookie
        for visit, headers, may in (
            (one, {"Cookie": cookie}, True),
            (other, {"Cookie": cookie}, False),
            (other, {"Cookie": renamed}, False),
            (other, {"Authorization": f"Bearer {value}"}, False),
        ):
            page = await visit.http.get("/", headers=headers)
            assert ("<button" in page.text) == may, headers


async def test_who_may_not_changes_nothing() -> None:
    async with opens(blocked(), knows=False) as visit:
        for headers in (
            {},
            {"Authorization": "Bearer wrong"},
            SHOWS | {"Origin": "http://evil.example"},
            SHOWS | {"Origin": "null"},
            SHOWS | {"Sec-Fetch-Site": "cross-site"},
        ):
            answer = await visit.http.post(RETRY, headers=headers)
            assert answer.status_code == 403, headers
            assert visit.rules.task(1).state == "blocked"


async def test_another_user_of_the_machine_reads_nothing() -> None:
    async with opens(blocked(), knows=False) as visit:
        for path in (
            *("/", f"/convoys/{NAME}", f"/convoys/{NAME}/tasks/1", "/log", "/events"),
            *("/api/status", "/openapi.json", "/nope", "/convoys.csv"),
        ):
            answer = await visit.http.get(path)
            assert answer.status_code == 403, path
            assert NAME not in answer.text
            assert "Open the address that brat printed" in answer.text
        assert (await visit.http.get("/healthz")).status_code == 200


async def test_another_name_for_this_machine_is_refused() -> None:
    async with opens(blocked()) as visit:
        answer = await visit.http.get("/", headers={"Host": "evil.example"})
        guessed = await visit.http.get("/", params={"token": "guess"})

    assert (answer.status_code, guessed.status_code) == (421, 403)
    assert NAME not in answer.text
    assert "Set-Cookie" not in guessed.headers


async def test_a_dashboard_that_only_shows_has_no_buttons() -> None:
    async with opens(blocked(), writes=False) as visit:
        page = await visit.http.get("/", headers=SHOWS)
        answer = await visit.http.post(RETRY, headers=SHOWS)

    assert "<button" not in page.text
    assert answer.text == "This dashboard is read-only.\n"


async def test_what_the_rules_forbid_is_said() -> None:
    async with opens(blocked()) as visit:
        twice = f"/convoys/{NAME}/resume"
        answer = await visit.http.post(twice, headers=SHOWS)
        unknown = await visit.http.post(f"/convoys/{NAME}/explode", headers=SHOWS)
        swapped = await visit.http.post(twice, headers=SHOWS | {"HX-Request": "true"})
        says = SHOWS | {"Content-Type": "application/json"}
        deep = await visit.http.post(RETRY, headers=says, content=b"[" * 60_000)

    told = [each.status_code for each in (answer, swapped, unknown, deep)]
    assert told == [409, 409, 404, 400]
    assert answer.text.startswith("That cannot be done: ")
    assert '<p class="toast bad">' in swapped.text
    words = "approve, retry, revise, pause, resume, cancel, add, follow"
    assert unknown.text == f"unknown command explode; use one of: {words}.\n"
