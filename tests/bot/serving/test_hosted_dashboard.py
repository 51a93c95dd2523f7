"""The hosted dashboard: who may see what, and whose word counts, as the forge says."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from http.cookies import SimpleCookie
from pathlib import Path
from typing import get_args
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from bot.dashboard.login import LOGIN, SESSION, Sessions
from bot.door.feed import kept_key
from tests.world import browser as browsers
from tests.world.browser import PROGRAM, Scheme
from tests.world.forge import REPO, Town, until
from tests.world.patience import patient
from tests.world.site import API_TOKEN, NAME, PRIVATE, Site, site, site_with_tls
from tests.world.terminal import Said, Terminal, new_terminal

pytestmark = [pytest.mark.timeout(180), pytest.mark.layer("landing")]

OWN = "https://brat.example"
PAUSE = f"/{REPO}/convoys/{NAME}/pause"


@dataclass
class Browser:
    """Somebody's browser behind the proxy that speaks TLS for us."""

    http: httpx.AsyncClient
    forge: Town
    cookies: dict[str, str] = field(default_factory=dict)
    set: list[str] = field(default_factory=list)

    async def ask(self, method: str, path: str, **more: object) -> httpx.Response:
        headers = {"Host": "brat.example", **more.pop("headers", {})}  # type: ignore[dict-item]
        if self.cookies:
            pairs = (f"{name}={value}" for name, value in self.cookies.items())
            headers["Cookie"] = "; ".join(pairs)
        answer = await self.http.request(method, path, headers=headers, **more)  # type: ignore[arg-type]
        for line in answer.headers.get_list("Set-Cookie"):
            self.set.append(line)
            for name, morsel in SimpleCookie(line).items():
                self.cookies[name] = morsel.value
                if not morsel.value:
                    del self.cookies[name]
        return answer

    async def get(self, path: str) -> httpx.Response:
        return await self.ask("GET", path)

    async def agreed(self, out: httpx.Response, who: str) -> str:
        """Agree there as somebody; return the way back."""
        shows = {"Authorization": f"Bearer {self.forge.tokens[who]}"}
        answer = await self.forge.client.get(out.headers["Location"], headers=shows)
        assert answer.status_code == 302, answer.text
        back = urlsplit(answer.headers["Location"])
        assert f"{back.scheme}://{back.netloc}" == OWN
        return f"{back.path}?{back.query}"

    async def sign_in(self, who: str, path: str = "/login") -> httpx.Response:
        out = await self.get(path)
        answer = await self.get(await self.agreed(out, who))
        assert answer.status_code == 303, answer.text
        return answer

    async def press(self, path: str, **form: str) -> httpx.Response:
        return await self.ask("POST", path, data=form, headers={"Origin": OWN})

    async def csrf(self) -> str:
        found = re.search(r'name="csrf" value="(\w+)"', (await self.get("/")).text)
        assert found is not None
        return found[1]


@asynccontextmanager
async def visiting(served: Site) -> AsyncIterator[Browser]:
    url = f"http://127.0.0.1:{served.port}"
    async with httpx.AsyncClient(
        base_url=url, trust_env=False, timeout=patient(20)
    ) as http:
        yield Browser(http, served.town)


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Site]:
    async with site(tmp_path, OWN) as here:
        yield here


@pytest.fixture
async def browser(served: Site) -> AsyncIterator[Browser]:
    async with visiting(served) as browser:
        yield browser


async def test_who_may_see_what(served: Site) -> None:
    pages = (f"/{REPO}/", f"/{REPO}/convoys/{NAME}", f"/{PRIVATE}/", "/alice/nope/")
    hidden = f"/{PRIVATE}/api/v1/status", "/alice/nope/api/v1/status"
    told: dict[str, list[int]] = {}
    refused = list[str]()
    for who in ("", "alice", "carol", "mallory"):
        async with visiting(served) as browser:
            if who:
                await browser.sign_in(who)
            told[who] = [(await browser.get(page)).status_code for page in pages]
            listed = (await browser.get("/")).text
            if who in ("", "mallory"):
                answers = [await browser.get(path) for path in hidden]
                assert [each.status_code for each in answers] == [404, 404]
                refused += [each.text for each in answers]
            for path in () if who else ("events", "log", "convoys/x/tasks/1/output"):
                assert (await browser.get(f"/{PRIVATE}/{path}")).status_code == 303
        assert f"/{REPO}/" in listed
        assert (PRIVATE in listed) == (who in ("alice", "carol"))

    assert told == {
        "": [200, 200, 303, 303],  # to sign in, whether it is there or not
        "alice": [200, 200, 200, 404],
        "carol": [200, 200, 200, 404],
        "mallory": [200, 200, 404, 404],
    }
    assert len({*refused}) == 1, "a stranger is not told which of them is there"


async def test_signing_in_leads_back_and_leaves_a_cookie_that_scripts_cannot_see(
    browser: Browser,
) -> None:
    first = await browser.get(f"/{PRIVATE}/log?words=x")
    out = await browser.get(first.headers["Location"])
    asked = parse_qs(urlsplit(out.headers["Location"]).query)
    back = await browser.get(await browser.agreed(out, "alice"))
    page = await browser.get(back.headers["Location"])

    assert asked["code_challenge_method"] == ["S256"]
    assert len(asked["code_challenge"][0]) == 43
    assert asked["redirect_uri"] == [f"{OWN}/login/done"]
    assert back.headers["Location"] == f"/{PRIVATE}/log?words=x"
    assert "<span>alice</span>" in page.text
    assert "Content-Encoding" not in page.headers  # it holds her forms' token
    assert LOGIN not in browser.cookies
    for line in browser.set:
        assert {"Secure", "HttpOnly", "SameSite=Lax", "Path=/"} <= set(line.split("; "))
        assert "Domain" not in line
        assert line.startswith("__Host-")
    assert API_TOKEN not in page.text
    for elsewhere in ("//evil.example", "/\\evil.example", "https://evil"):
        back = await browser.sign_in("alice", f"/login?to={elsewhere}")
        assert back.headers["Location"] == "/"


async def test_an_answer_to_another_browser_signs_nobody_in(served: Site) -> None:
    async with visiting(served) as mallory, visiting(served) as alice:
        hers = await mallory.agreed(await mallory.get("/login"), "mallory")
        nothing = await alice.get(hers)
        await alice.get("/login")
        mixed = await alice.get(hers)
        own = await alice.agreed(await alice.get("/login"), "alice")
        first = await alice.get(own)
        await alice.get("/login")
        again = await alice.get(own)
        out = await alice.agreed(await alice.get("/login"), "alice")
        wrong = await alice.get(re.sub(r"\bcode=\w+", "code=wrong", out))

    assert (nothing.status_code, mixed.status_code) == (403, 403)
    assert (first.status_code, again.status_code) == (303, 403)
    assert wrong.status_code == 403


async def test_who_may_not_write_changes_nothing(served: Site) -> None:
    async with visiting(served) as browser:
        nobody = await browser.press(PAUSE)
        await browser.sign_in("mallory")
        page = (await browser.get(f"/{REPO}/convoys/{NAME}")).text
        csrf = await browser.csrf()
        reader = await browser.press(PAUSE, csrf=csrf)
    async with visiting(served) as browser:
        await browser.sign_in("alice")
        own = await browser.csrf()
        without = await browser.press(PAUSE)
        wrong = await browser.press(PAUSE, csrf=csrf)
        elsewhere = await browser.ask(
            "POST", PAUSE, data={"csrf": own}, headers={"Origin": "https://evil"}
        )
        log = (await browser.get(f"/{REPO}/log")).text

    assert f'action="{PAUSE}"' not in page
    refused = (nobody, reader, without, wrong, elsewhere)
    assert [each.status_code for each in refused] == [403] * 5
    assert nobody.text == "Sign in first.\n"
    assert reader.text == "You do not have write access to this repository.\n"
    assert "paused" not in log


async def test_a_cookie_of_who_signed_out_or_that_we_did_not_make_is_nobodys(
    served: Site, browser: Browser
) -> None:
    await browser.sign_in("alice")
    signed_in = browser.cookies[SESSION]
    forged = await browser.press("/logout", csrf="x")
    out = await browser.press("/logout", csrf=await browser.csrf())
    assert (forged.status_code, out.status_code) == (403, 303)

    ours = Sessions(kept_key(served.folder / "dashboard.key"))
    values = (
        signed_in,
        Sessions(b"another key of the same length..").begin("alice"),
        ours.sealed(LOGIN, 600, {"sub": "alice", "jti": "x"}),
        ours.sealed(SESSION, -1, {"sub": "alice", "jti": "x"}),
        "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSIsImF1ZCI6Il9fSG9zdC1icmF0In0.",
        "x",
    )
    for value in values:
        browser.cookies = {SESSION: value}
        page = await browser.get(f"/{PRIVATE}/")
        assert page.status_code == 303  # to sign in

    assert (served.folder / "dashboard.key").stat().st_mode & 0o077 == 0


async def test_a_configuration_that_cannot_be_used_waits_for_a_person(
    served: Site,
    browser: Browser,
) -> None:
    checkout = await served.town.clone("alice")
    await checkout.commit(".brat/config.toml", "[refinery]\nstrategy = 'magic'\n")
    await checkout.git("push", "--quiet", "origin", "HEAD:main")
    await browser.get(f"/{REPO}/")

    async def said() -> bool:
        status = (await browser.get(f"/{REPO}/api/v1/status")).json()
        kinds = [each["kind"] for each in status["interventions"]]
        return kinds[:1] == ["config_error"]

    await until(said)


# --- in a real browser ----------------------------------------------------------------

CONVOY = f"/{REPO}/convoys/{NAME}"


@pytest.mark.needs(PROGRAM, "npm")
@pytest.mark.timeout(300)
async def test_every_page_of_its_own_is_for_every_eye(tmp_path: Path) -> None:
    """The list of repositories, for nobody and somebody, and what is refused there."""
    async with (
        site_with_tls(tmp_path) as (site, url, _),
        browsers.launched() as program,
    ):
        for scheme in get_args(Scheme):
            async with (
                browsers.tab(program, scheme) as nobody,
                browsers.tab(program, scheme) as alice,
            ):
                known = {  # to the forge, already
                    "name": "user_session",
                    "value": site.town.tokens["alice"],
                    "url": site.town.url,
                }
                await alice.page.context.add_cookies([known])  # type: ignore[list-item]
                await alice.page.goto(f"{url}/login")
                for tab, path in (
                    (nobody, "/"),
                    (nobody, "/login/done"),
                    (nobody, CONVOY),
                    (alice, "/"),
                    (alice, "/alice/nope/"),
                    (alice, CONVOY),
                    (alice, f"/{REPO}/log"),
                ):
                    await tab.page.goto(url + path)
                    assert await tab.faults() == [], (path, scheme)
                await alice.picture(f"site-log-{scheme}")


# --- `brat ... --bot` in a clone, against a hosted bot behind TLS ---------------------


async def typed(terminal: Terminal, line: str) -> Said:
    return await asyncio.to_thread(terminal.type, line)


async def test_a_convoy_is_paused_at_a_hosted_bot(tmp_path: Path) -> None:
    """The clone holds no log: the bot says which convoy lives."""
    terminal = new_terminal(tmp_path)
    async with site_with_tls(tmp_path) as (here, url, authority):
        terminal.done(f"git remote add origin {here.town.url}/{REPO}.git")
        pause = f"brat convoy pause {NAME}"
        trusts = f"env SSL_CERT_FILE={authority}"
        shows = f"{trusts} BRAT_API_TOKEN={API_TOKEN}"
        done = await typed(terminal, f"{shows} {pause} --bot {url}")
        again = await typed(terminal, f"{shows} BRAT_BOT_URL={url} {pause}")
        wrong = await typed(
            terminal, f"{trusts} BRAT_API_TOKEN=made-up-of-nobody {pause} --bot {url}"
        )
        terminal.done(f"git remote set-url origin {here.town.url}/{PRIVATE}.git")
        hidden = await typed(
            terminal, f"{trusts} BRAT_API_TOKEN=made-up-of-nobody {pause} --bot {url}"
        )
        elsewhere = await typed(terminal, f"{shows} {pause} --bot {url}")
        terminal.done(f"git config brat.bot {url}")
        terminal.done(f"git remote set-url origin {here.town.url}/{REPO}.git")
        configured = await typed(terminal, f"{shows} brat convoy resume {NAME}")

    assert (done.status, done.lines) == (
        0,
        [f"the bot at {url} carried out: pause {NAME}"],
    )
    assert again.status == 1
    assert "refused the request: That cannot be done: " in again.err
    assert (wrong.status, hidden.status, elsewhere.status) == (1, 1, 1)
    assert f"the bot at {url} refused the request (403): Sign in first." in wrong.err
    assert "(404): This page does not exist, or you do not have" in hidden.err
    assert f"(404): There is no convoy {NAME}." in elsewhere.err
    assert configured.status == 0, configured.err
    for each in (done, again, wrong, hidden, elsewhere, configured):
        assert len(each.lines) == 1
        assert API_TOKEN not in each.err
