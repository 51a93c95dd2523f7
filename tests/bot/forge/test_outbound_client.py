"""Clients that go this machine's own way: by its proxy, trusting its authorities."""

import asyncio
import os
import ssl
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest
from aiohttp import web

from bot.door.listening import listening
from bot.forge.transport import async_client, client_of
from grite.errors import BratError
from grite.outbound import PROXIES, TRUST
from runner.session.feed_client import FeedError, connect, request
from tests.world.patience import patient
from tests.world.tls import ConnectProxy, connect_proxy, tls_before

HOST = "inside.example.test"
"""A name that nobody can resolve; the proxy knows where it is."""
URL = f"https://{HOST}/said"


@pytest.fixture
async def proxy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[ConnectProxy]:
    """The only way to `URL`, which answers in JSON; the environment leads there."""

    async def answer(_: web.Request) -> web.Response:
        return web.json_response({"said": "hi"})

    app = web.Application()
    app.router.add_get("/said", answer)
    async with (
        listening(app, "127.0.0.1", 0) as port,
        tls_before(port, tmp_path, HOST) as (secure, authority),
        connect_proxy(secure, f"{HOST}:443") as served,
    ):
        for name in (*PROXIES, *TRUST):
            monkeypatch.delenv(name, raising=False)
        way = f"http://{served.person}@127.0.0.1:{served.port}"
        monkeypatch.setenv("HTTPS_PROXY", way)
        monkeypatch.setenv("SSL_CERT_FILE", str(authority))
        yield served


async def test_each_client_goes_through_the_proxy(proxy: ConnectProxy) -> None:
    def by_command() -> object:
        with client_of(URL, patient(20)) as http:
            return http.get(URL).json()

    def by_runner() -> object:
        line = connect(URL)
        try:
            return request(line, "GET", "/said", "Bearer x")
        finally:
            line.close()

    async with async_client(patient(20)) as http:
        assert (await http.get(URL)).json() == {"said": "hi"}
    for asked in (by_command, by_runner):
        assert await asyncio.to_thread(asked) == {"said": "hi"}
    assert len(proxy.heads) == 3


async def test_without_the_authority_nobody_is_believed_and_a_wrong_one_is_said(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    async with async_client(patient(20)) as http:
        with pytest.raises(BratError, match="correct SSL_CERT_FILE"):
            await http.get(URL)
    with pytest.raises(BratError, match="correct SSL_CERT_FILE"):
        client_of(URL, patient(20))
    with pytest.raises(FeedError, match="correct SSL_CERT_FILE"):
        connect(URL)
    assert proxy.heads == []

    monkeypatch.delenv("SSL_CERT_FILE")
    says = "or set SSL_CERT_FILE to its path"
    async with async_client(patient(20)) as http:
        with pytest.raises(httpx.ConnectError, match=says):
            await http.get(URL)
    with pytest.raises(OSError, match="certificate verify failed"):
        await asyncio.to_thread(connect, URL)
    assert len(proxy.heads) == 2


async def test_a_proxy_that_is_not_there_or_says_no_is_named(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with async_client(patient(20)) as http:
        with pytest.raises(httpx.ProxyError, match=rf"127.0.0.1:{proxy.port}\)$"):
            await http.get("https://elsewhere.example.test")
        monkeypatch.setenv("HTTPS_PROXY", "http://me:made-up-pass@127.0.0.1:1")
        with pytest.raises(httpx.ConnectError) as refused:
            await http.get(URL)

    assert str(refused.value).endswith("(through the proxy 127.0.0.1:1)")


INSTALLED = f"""\
set -e
mkdir "$1"
cp "$2" "$1/$(openssl x509 -hash -noout -in "$2").0"
mount --bind "$1" "$3"
if [ -f "$4" ]; then mount --bind "$2" "$4"; fi
exec "$5" -I -c "
from bot.forge.transport import client_of
with client_of('{URL}', 10) as http:
    print(http.get('{URL}').text)
"
"""
"""Looks for a page where the system knows one authority, in its folder and its file."""


@pytest.mark.needs("unshare")
@pytest.mark.needs("openssl")
async def test_an_authority_that_the_machine_trusts_is_trusted(
    proxy: ConnectProxy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    authority = os.environ["SSL_CERT_FILE"]
    monkeypatch.delenv("SSL_CERT_FILE")
    system = ssl.get_default_verify_paths()
    given = (
        *(str(tmp_path / "installed"), authority),
        *(system.openssl_capath, system.openssl_cafile),
    )
    process = await asyncio.create_subprocess_exec(
        *("unshare", "--user", "--map-root-user", "--mount"),
        *("sh", "-c", INSTALLED, "sh", *given, sys.executable),
        stdout=asyncio.subprocess.PIPE,
    )
    out, _ = await process.communicate()

    assert (process.returncode, out) == (0, b'{"said": "hi"}\n')
    assert len(proxy.heads) == 1
