"""What an answer took is read off it, whoever gave it and however it was cut."""

import json

from convoy.model.records import Limits
from runner.proxy.proxy_protocol import Usage
from runner.proxy.usage_reader import UsageMeter, UsageReader, most_of
from tests.world.cases import looped
from tests.world.vendor import amazon_frames
from tests.world.vendor.conversation import Say
from tests.world.vendor.vendor_server import (
    ANTHROPIC,
    CHAT,
    CODE_ASSIST,
    GEMINI,
    RESPONSES,
    Dialect,
)

TURN = Say("Hello there, world. " * 20)


def gauged(text: bytes, *, streams: bool, size: int) -> Usage:
    return read_by("text/event-stream" if streams else "application/json", text, size)


def read_by(kind: str, text: bytes, size: int) -> Usage:
    gauge = UsageReader(kind)
    for start in range(0, len(text), size):
        gauge.feed(text[start : start + size])
    return gauge.read(400)


@looped(1, 7, 100_000)
@looped(ANTHROPIC, CHAT, RESPONSES, GEMINI, CODE_ASSIST)
def test_streams_and_whole_answers_say_the_same(speaker: Dialect, size: int) -> None:
    said = {"model": "m", "stream": True, "messages": [], "input": [], "request": {}}
    whole = speaker.whole(speaker.read(said | {"stream": False}), TURN)
    parts = speaker.frames(speaker.read(said), TURN)
    frames = (*parts.head, *parts.body, *parts.tail)

    found = gauged(json.dumps(whole).encode(), streams=False, size=size)
    streamed = [gauged(b"".join(frames), streams=True, size=size)]
    if speaker is ANTHROPIC:
        framed = b"".join(map(amazon_frames.framed, frames))
        streamed.append(read_by(amazon_frames.TYPE, framed, size))

    guessed = gauged(b"", streams=False, size=1)
    assert found.input_tokens not in (0, guessed.input_tokens)
    assert found.output_tokens > 0
    for each in streamed:
        assert each.input_tokens == found.input_tokens
        assert each.output_tokens == found.output_tokens


CACHED = {"cached_tokens": 8}


@looped(
    (
        {
            "input_tokens": 5,
            "cache_creation_input_tokens": 7,
            "cache_read_input_tokens": 11,
            "output_tokens": 3,
        },
        *(12, 11, 3),
    ),
    (
        {"prompt_tokens": 20, "completion_tokens": 3, "prompt_tokens_details": CACHED},
        *(12, 8, 3),
    ),
    (
        {"input_tokens": 20, "output_tokens": 3, "input_tokens_details": CACHED},
        *(12, 8, 3),
    ),
    ({"input_tokens": -5, "output_tokens": 3}, 0, 0, 3),
)
def test_cached_tokens_are_counted_by_themselves(
    usage: dict[str, object], read: int, cached: int, written: int
) -> None:
    text = json.dumps({"model": "m", "usage": usage}).encode()
    assert gauged(text, streams=False, size=10) == Usage(
        model="m", input_tokens=read, cached_tokens=cached, output_tokens=written
    )


def test_gemini_counts_its_cache_and_its_thoughts_in() -> None:
    text = (
        b'[{"modelVersion":"m","usageMetadata":{"promptTokenCount":20,'
        b'"cachedContentTokenCount":8,"candidatesTokenCount":3,"thoughtsTokenCount":4}}]'
    )

    assert gauged(text, streams=False, size=10) == Usage(
        model="m", input_tokens=12, cached_tokens=8, output_tokens=7
    )


@looped(*(False, True))
@looped(
    b"<html>", b'{"usage": "none"}', b'data: {"usage', b'{"usage": {"input_tokens":'
)
def test_what_is_not_said_is_estimated(text: bytes, *, streams: bool) -> None:
    found = gauged(text, streams=streams, size=10)

    assert (found.input_tokens, found.model) == (100, "")
    assert found.output_tokens == len(text) // 4


def test_a_call_that_asks_for_less_than_nothing_makes_room_for_none() -> None:
    meter = UsageMeter(Limits(tokens=100), None)

    assert meter.begin(most_of(b'{"max_tokens":-1000000}'))
    assert not meter.begin(most_of(b'{"max_tokens":60}'))
