"""Finds where the earlier text begins that a mail program appends to a reply. Pure.

Each line is matched by itself, in time linear in its length: the text may be hostile.
Quoted lines (`> `) are Markdown's own, and end nothing: people answer below them.
"""

import re
from collections.abc import Sequence
from typing import Final

from markdown_it.token import Token

_WRAPPED: Final = 3
"""Mail programs break the line that says who wrote what into at most so many."""
_LONGEST: Final = 400
_RULED: Final = re.compile(
    r"-{3,} ?(?!BEGIN |END )[^\W\d_][^|\r\n]*-{3,}"  # -----Original Message-----
    r"|_{20,}"  # Outlook on the web
    r"|--"  # RFC 3676: before a signature
)
_FOOTER: Final = re.compile(
    r"(?:reply to this email directly\b|you are receiving this because\b"  # GitHub
    r"|sent from my \w|sent from outlook\b|get outlook for \w"
    r"|von meinem \w+ gesendet|gesendet von |envoyé de(?:puis)? mon "
    r"|enviado desde mi |enviado do meu |inviato da |verzonden vanaf )",
    re.IGNORECASE,
)
_FIRST: Final = (
    "from|von|de|da|van|från|fra|lähettäjä|od|nadawca|от|от кого|від|gönderen|kimden"
    "|feladó|expéditeur|remitente|mittente|发件人|寄件者|差出人|보낸 사람"
)
_NEXT: Final = (
    "sent|to|subject|date|cc|gesendet|an|datum|betreff|envoyé|à|objet|date|enviado"
    "|enviada em|para|asunto|assunto|fecha|data|inviato|a|oggetto|verzonden|aan"
    "|onderwerp|skickat|till|ämne|sendt|til|emne|lähetetty|vastaanottaja|aihe"
    "|wysłano|do|temat|odesláno|komu|předmět|отправлено|дата|кому|тема|надіслано"
    "|gönderildi|kime|konu|küldve|címzett|tárgy|发送时间|收件人|主题|日期|傳送時間"
    "|收件者|主旨|送信日時|宛先|件名|보낸 날짜|받는 사람|제목"
)
_FROM: Final = re.compile(rf"[*_ ]*(?:{_FIRST})[*_ ]*[:\uff1a]", re.IGNORECASE)
_HEADER: Final = re.compile(rf"[*_ ]*(?:{_NEXT})[*_ ]*[:\uff1a]", re.IGNORECASE)
_SAID: Final = re.compile(
    r"\b(?:wrote|schrieb|a écrit|escribió|ha scritto|escreveu|schreef|skrev|kirjoitti"
    r"|napisał|napisała|napsal|napísal|написал|написала|пише|пишет|yazd\u0131|írta"
    r"|a scris|έγραψε|написа|kirjutas|rašė|rakstīja)\b|写道|寫道|작성|のメッセージ",
    re.IGNORECASE,
)
_TIME: Final = re.compile(r"(?<!\d)(?:(?:19|20)\d\d|\d{1,2}[:.]\d\d)(?!\d)")
_ADDRESS: Final = re.compile(r"<[^<>\s@]{1,64}@[^<>\s@]{1,190}>")
_ON: Final = re.compile(r"On\s.*\swrote", re.IGNORECASE)


def own_end(lines: Sequence[str], tokens: Sequence[Token]) -> int:
    """Return how many lines of a comment are its author's; see `first_separator`.

    Args:
        lines: the comment's.
        tokens: the comment as Markdown; what stands in a fence separates nothing.
    """
    fenced = {
        at
        for token in tokens
        if token.type == "fence" and token.map
        for at in range(*token.map)
    }
    return first_separator(
        ["" if at in fenced else line for at, line in enumerate(lines)]
    )


def first_separator(lines: Sequence[str]) -> int:
    """Return the index of the line where earlier text begins; without any: their end.

    Such lines are "On ... wrote:" in the languages of the usual programs, headings
    like "-----Original Message-----", two lines of a mail's head (`From:`, `Sent:`),
    the line before a signature, and GitHub's own "Reply to this email directly".
    """
    return next(
        (at for at in range(len(lines)) if _separates(lines, at)),
        len(lines),
    )


def _separates(lines: Sequence[str], at: int) -> bool:
    line = lines[at].strip()
    if not line or len(line) > _LONGEST or line.startswith(">"):
        return False
    if _RULED.fullmatch(line) or _FOOTER.match(line):
        return True
    if _FROM.match(line):
        below = lines[at + 1 : at + 1 + _WRAPPED]
        return any(_HEADER.match(each.strip()) for each in below)
    return _tells_who_wrote(lines, at)


def _tells_who_wrote(lines: Sequence[str], at: int) -> bool:
    """Whether a sentence that begins here says who wrote what follows, and when."""
    words = ""
    for line in lines[at : at + _WRAPPED]:
        part = line.strip()
        if not part or part.startswith((">", "/")) or len(words) + len(part) > _LONGEST:
            return False
        words = f"{words} {part}".strip()
        if part.endswith((":", "\uff1a")):
            return _is_attribution(words[:-1].rstrip())
    return False


def _is_attribution(words: str) -> bool:
    if _ON.fullmatch(words):
        return True
    has_writer = _SAID.search(words) or _ADDRESS.search(words)
    return bool(has_writer and _TIME.search(words))
