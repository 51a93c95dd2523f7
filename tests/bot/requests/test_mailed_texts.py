"""What comes by mail commands nothing: its sender can be forged."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given, strategies as st

from bot.door.inbox import Remark, Review
from bot.text.slash_commands import (
    SlashCommand,
    first_separator,
    mentioned,
    slash_commands,
)
from brat.forge.rest.rest_call import Extension
from brat.forge.service.running_forge import Service
from tests.bot.room import Room, room as opened
from tests.world.cases import looped
from tests.world.github_forge.extension import github
from tests.world.github_forge.mailed_texts import MailedTexts
from tests.world.growth import LINEAR, growth

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
QUOTED = "/brat cancel"
SEPARATORS = (
    "On Mon, Nov 3, 2025 at 10:00 AM Bea <bea@example.com> wrote:",
    "On Mon, Nov 3, 2025 at 10:00 AM Bea Somebody-Long\n<bea@example.com> wrote:",
    "On Tuesday Bea wrote:",
    "Am Mo., 3. Nov. 2025 um 10:00 Uhr schrieb Bea <bea@example.com>:",
    "Am 03.11.25 um 10:00 schrieb Bea:",
    "Le lun. 3 nov. 2025 à 10:00, Bea <bea@example.com> a écrit :",
    "El lun, 3 nov 2025 a las 10:00, Bea (<bea@example.com>) escribió:",
    "Il giorno lun 3 nov 2025 alle ore 10:00 Bea <b@example.com> ha scritto:",
    "Em seg., 3 de nov. de 2025 às 10:00, Bea <b@example.com> escreveu:",
    "Op ma 3 nov 2025 om 10:00 schreef Bea <bea@example.com>:",
    "Den mån 3 nov. 2025 kl 10:00 skrev Bea <bea@example.com>:",
    "ma 3. marrask. 2025 klo 10.00 Bea (bea@example.com) kirjoitti:",
    "pon., 3 lis 2025 o 10:00 Bea <bea@example.com> napisał(a):",
    "po 3. 11. 2025 v 10:00 odesílatel Bea <bea@example.com> napsal:",
    "пн, 3 нояб. 2025 г. в 10:00, Bea <bea@example.com>:",  # noqa: RUF001  Russian
    "3 Kas 2025 Pzt, saat 10:00 tarihinde Bea şunu yazdı:",  # noqa: RUF001  Turkish
    "2025年11月3日(月) 10:00 Bea <bea@example.com>:",
    "Bea <bea@example.com> 于2025年11月3日周一 10:00写道\N{FULLWIDTH COLON}",
    "2025년 11월 3일 (월) 오전 10:00, Bea <bea@example.com>님이 작성:",
    "-----Original Message-----",
    "-----Ursprüngliche Nachricht-----",
    "---------- Forwarded message ---------",
    "-------- Message d'origine --------",
    "________________________________",
    "From: Bea <bea@example.com>\nSent: Monday, November 3, 2025",
    "Von: Bea\nGesendet: Montag, 3. November 2025 10:00",
    "**De :** Bea\n**Envoyé :** lundi 3 novembre 2025",
    "发件人: Bea\n发送时间: 2025年11月3日",
    "-- ",
    "Sent from my iPhone",
    "Reply to this email directly, view it on GitHub\n<https://example.com>.",
    "You are receiving this because you were mentioned.",
)


@pytest.fixture
async def room(tmp_path: Path) -> AsyncIterator[Room]:
    async with opened(tmp_path, roles=("mayor",), extend=github) as room:
        yield room


class Outage:
    """A forge whose GraphQL does not answer until the outage is over."""

    over = True

    def github(self, service: Service) -> Extension:
        """Return what GitHub has, with the outage."""
        whole = github(service)
        pages = [*whole.pages]
        for at, page in enumerate(pages):
            if page.path == "/api/graphql":
                pages[at] = web.post(page.path, self._answering(page.handler))
        return replace(whole, pages=tuple(pages))

    def _answering(self, answer: Handler) -> Handler:
        async def handle(request: web.Request) -> web.StreamResponse:
            if not self.over:
                return web.Response(status=502)
            return await answer(request)

        return handle


async def mailed(here: Room, text: str, by: str = "you") -> list[str]:
    """Let a comment come by mail; return what the bot says of it."""
    comment = await here.written(here.issue, text, by)
    MailedTexts(here.forge.folder).mark(comment)
    before = len(here.spoken())
    remark = Remark(issue=here.issue, comment=comment, text=text, by=by, on_pull=False)
    here.loop.context.inbox.put(f"mail-{comment}", remark)
    await here.loop.tick()
    return here.spoken()[before:]


async def test_a_command_by_mail_is_not_carried_out_and_told_so(room: Room) -> None:
    (said,) = await mailed(room, "/brat cancel\n/brat drop 1")

    assert room.convoy_state() == "active"
    assert room.task(1).state == "queued"
    assert said.count("a command that comes by mail does not count") == 1


async def test_the_same_words_typed_count(room: Room) -> None:
    await room.said("/brat cancel")

    assert room.convoy_state() == "failed"


async def test_a_mail_without_a_command_is_left_alone(room: Room) -> None:
    assert await mailed(room, "Thank you!\n\n> /brat cancel") == []


async def test_a_command_waits_until_the_forge_tells(tmp_path: Path) -> None:
    outage = Outage()
    async with opened(tmp_path, roles=("mayor",), extend=outage.github) as here:
        outage.over = False
        await here.said("/brat cancel")
        waiting = here.convoy_state()
        outage.over = True
        await here.until(lambda: here.convoy_state() == "failed")

    assert waiting == "active"


async def test_commands_of_a_review_by_mail_do_not_count(tmp_path: Path) -> None:
    async with opened(tmp_path, extend=github) as here:
        await here.worked(1, {"one.py": b"one\n"})
        body = {"event": "COMMENT", "body": "/brat drop 2"}
        await here.asked("POST", f"pulls/{here.pull(1)}/reviews", body)
        (review,) = here.forge.store.reviews.all()
        MailedTexts(here.forge.folder).mark(review.id)
        kept = Review(
            pull=here.pull(1),
            review=review.id,
            verdict="commented",
            commit=review.commit,
            text=review.body,
            by="you",
        )
        here.loop.context.inbox.put("mailed-review", kept)
        await here.loop.tick()

        assert here.task(2).state == "queued"
        assert "a command that comes by mail does not count" in here.spoken()[-1]


@looped("separator", SEPARATORS)
def test_nothing_is_read_below_a_separator(separator: str) -> None:
    text = f"/brat retry 1\n\n{separator}\n\n{QUOTED}\n\n@brat start\n"

    (said,) = slash_commands(text)

    assert isinstance(said, SlashCommand)
    assert said.verb == "retry"
    assert mentioned(text, "brat[bot]") is None


@looped(
    "text",
    [
        "> On Mon, Nov 3, 2025 at 10:00 Bea wrote:\n> no\n",
        "@bea wrote:\n> no\n",
        "```\n-----Original Message-----\nFrom: a\nTo: b\n```",
        "Seen since 10:00:\n\n- it hangs\n",
        "a\n\n---\n",
        "| a | b |\n| --- | --- |\n| 1 | 2 |\n",
        "From: the start it was wrong.\n",
    ],
)
def test_what_people_write_on_the_page_is_read(text: str) -> None:
    said = slash_commands(f"/brat ping\n\n{text}\n/brat cancel")

    assert [each.verb for each in said if isinstance(each, SlashCommand)] == [
        *("ping", "cancel")
    ]


def test_a_separator_ends_the_text_of_a_command() -> None:
    text = "/brat tell 1 -- Be quick.\nOn Mon, 3 Nov 2025 at 10:00 Bea wrote:\nNo."

    (said,) = slash_commands(text)

    assert isinstance(said, SlashCommand)
    assert said.text == "Be quick."


@given(st.text(alphabet="On -_:<>@>\nwrote2025Fromé\N{FULLWIDTH COLON}", max_size=400))
def test_any_text_is_searched(text: str) -> None:
    assert 0 <= first_separator(text.split("\n")) <= text.count("\n") + 1


@looped("part", ["On a ", "-a", "From:\n", "<a@", "10:00 ", "On\n"])
def test_hostile_text_is_searched_in_time(part: str) -> None:
    def search(size: int) -> None:
        first_separator((part * (size // len(part))).split("\n"))

    assert growth(search, 7_500) < LINEAR
