"""The scripted vendor over HTTP: answers, and every way to fail."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from brat.local.forge_process import Process
from tests.demo.requests import ANTHROPIC, CHAT, GEMINI, RESPONSES
from tests.world.cases import looped
from tests.world.patience import patient
from tests.world.vendor.script import (
    Case,
    Cut,
    Fault,
    Flood,
    Hang,
    Run,
    Script,
    Status,
    dump,
)
from tests.world.vendor.vendor_server import serving

ADDRESSES = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/m:streamGenerateContent?alt=sse",
}
BODIES = {
    "anthropic": ANTHROPIC,
    "chat": CHAT,
    "responses": RESPONSES,
    "gemini": GEMINI,
}


STEPS = (Run(command="ls"), Run(command="make"))


@asynccontextmanager
async def playing(
    fault: Fault | None = None, first: int | None = None
) -> AsyncIterator[httpx.AsyncClient]:
    case = Case(when=("Fix it",), steps=STEPS, fault=fault, first=first)
    async with (
        serving(Script(cases=(case,)), 0, lambda _call: None) as url,
        httpx.AsyncClient(base_url=url, trust_env=False, timeout=patient(20)) as client,
    ):
        yield client


async def post(
    client: httpx.AsyncClient, dialect: str, **changes: object
) -> httpx.Response:
    return await client.post(ADDRESSES[dialect], json=BODIES[dialect] | changes)


@pytest.mark.parametrize("dialect", ADDRESSES)
async def test_it_streams_the_next_step(dialect: str) -> None:
    async with playing() as client:
        answered = await post(client, dialect)

    assert answered.headers["Content-Type"] == "text/event-stream"
    lines = [line.removeprefix("data: ") for line in answered.text.splitlines()]
    parts = [json.loads(line) for line in lines if line.startswith("{")]
    assert parts
    assert "Bash" in answered.text
    assert "make" in "".join(_arguments(parts))


def _arguments(parts: list[dict[str, Any]]) -> Iterator[str]:
    for part in parts:
        yield str(part.get("delta", ""))  # responses
        for choice in part.get("choices", ()):
            yield from (
                c["function"]["arguments"]
                for c in choice["delta"].get("tool_calls", ())
            )
        yield from (json.dumps(c["content"]) for c in part.get("candidates", ()))
        if part.get("type") == "content_block_delta":
            yield part["delta"]["partial_json"]


@pytest.mark.parametrize("dialect", ["anthropic", "chat", "responses"])
async def test_it_answers_in_one_piece(dialect: str) -> None:
    async with playing() as client:
        answered = await post(client, dialect, stream=False)

    assert answered.status_code == 200
    assert "make" in json.dumps(answered.json())


@looped("dialect", ADDRESSES)
@looped("code", [401, 429, 500])
async def test_it_refuses(dialect: str, code: int) -> None:
    async with playing(Status(code=code, retry_after=7)) as client:
        answered = await post(client, dialect)

    assert answered.status_code == code
    assert answered.headers["Retry-After"] == "7"
    assert answered.json()["error"]["message"]


async def test_a_fault_may_end_after_the_first_calls() -> None:
    async with playing(Status(code=500), first=2) as client:
        codes = [(await post(client, "chat")).status_code for _ in range(3)]

    assert codes == [500, 500, 200]


@pytest.mark.parametrize("dialect", ADDRESSES)
async def test_it_cuts_a_stream(dialect: str) -> None:
    async with playing(Cut()) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await post(client, dialect)


@pytest.mark.parametrize("dialect", ADDRESSES)
async def test_it_floods(dialect: str) -> None:
    poured = 0
    body = BODIES[dialect]
    async with (
        playing(Flood()) as client,
        client.stream("POST", ADDRESSES[dialect], json=body) as answered,
    ):
        async for piece in answered.aiter_bytes():
            poured += len(piece)
            if poured > 100_000:
                break

    assert poured > 100_000


async def test_it_hangs() -> None:
    async with playing(Hang()) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(
                ADDRESSES["chat"],
                json=CHAT,
                timeout=httpx.Timeout(patient(20), read=0.5),
            )


async def test_a_broken_request_is_refused_and_the_next_one_answered() -> None:
    async with playing() as client:
        broken = await client.post(ADDRESSES["chat"], content=b"{")
        assert (await post(client, "chat")).status_code == 200

    assert broken.status_code == 400


def test_as_a_process_it_writes_down_each_call(tmp_path: Path) -> None:
    script, log = tmp_path / "script.json", tmp_path / "calls.jsonl"
    script.write_bytes(dump(Script(cases=(Case(steps=STEPS),))))
    options = ("--script", str(script), "--log", str(log))
    process = Process("tests.world.vendor", *options, log=tmp_path / "err")
    try:
        url = json.loads(process.ready())["url"]
        keys = {"Authorization": "Bearer a-key"}
        asked = url + ADDRESSES["chat"]
        httpx.post(asked, json=CHAT, headers=keys, trust_env=False, timeout=patient(20))
    finally:
        process.stop()

    (call,) = map(json.loads, log.read_text().splitlines())
    assert call == {
        "path": ADDRESSES["chat"], "model": "m", "results": 1, "tools": ["Bash"],
        "fault": None, "key": "2a8a1240f5063665",
    }  # fmt: skip
    assert (tmp_path / "err").read_text() == ""


def test_a_missing_script_is_one_sentence(tmp_path: Path) -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-I",
            "-m",
            "tests.world.vendor",
            "--script",
            tmp_path / "none",
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 1
    assert done.stderr.startswith("tests.world.vendor: ")
    assert "Traceback" not in done.stderr
