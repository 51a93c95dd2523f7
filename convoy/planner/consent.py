"""Knows the boxes by which an author says something of themself; they are no tasks.

Such as "I searched the existing issues" and "I want to work on this". Pure.
"""

import re
import unicodedata
from typing import Final

_HAVE: Final = r"(?:have|'ve|did|do|am|'m|was|would|'d|will|'ll|can|could)?"
_HOW: Final = r"(?:already|also|carefully|thoroughly|fully|previously|not|really)?"
_DONE: Final = (
    r"(?:search|check|read|verif|confirm|look|review|test|reproduc|acknowledg|"
    r"understand|understood|agree|accept|consent|ensure|made sure|make sure|updated|"
    r"using|use the latest|running|followed|follow this|tried|provided|included|"
    r"filled|report|willing|interested|happy|open to|like to|want to|wish to|contribut|"
    r"submit|open a|work on|a gssoc|written a descriptive|found no|aware|certify|"
    r"swear|removed|specified|given|understand)"
)
_SAID: Final = (
    rf"i ?{_HAVE} ?{_HOW} ?(?:be )?{_DONE}",
    (
        r"(?:searched|checked|looked|read|reviewed|verified|confirmed)\b.*"
        r"\b(?:issues?|duplicates?|docs?|documentation|guidelines?|code of conduct|"
        r"faq|readme|contributing)\b"
    ),
    (
        r"(?:this|it|the issue|my issue|this issue) (?:is|has)(?:n't| not)?\b.*"
        r"\b(?:duplicates?|reported|existing|bug report|feature request|question)\b"
    ),
    r"there (?:is|are) no\b.*\b(?:issues?|duplicates?)\b",
    r"no (?:existing|similar|duplicate) (?:issues?|bugs?|reports?)\b",
    r"yes,? i\b",
    r"by submitting this\b",
    r"to the best of my knowledge\b",
    r"(?:are|would) you (?:be )?(?:willing|interested|like to|happy)\b",
    r"(?:did|have) you (?:search|check|read|look|verif|review|tr(?:y|ied)|update)",
    r"is there an existing\b",
    r"我(?:已|已经|确认|确定|愿意|同意|理解|保证|想|希望|搜索|检查|阅读|查)",
    r"已(?:经)?(?:搜索|阅读|查看|检查|确认|确保|查阅)",
    r"(?:既存|重複|過去).*(?:検索|確認|探|調べ|ない|ありません)",
    r".*(?:検索|確認|同意)(?:しました|済み?|します)",
    r".*(?:검색|확인|동의|읽었)(?:했습니다|하였습니다|합니다|습니다)",
    r"j(?:'|e )(?:ai|accepte|confirme|suis|souhaite|aimerais|m'engage|comprends)\b",
    (
        r"ich (?:habe|bin|stimme|bestätige|möchte|will|akzeptiere|verstehe)\b.*"
        r"(?:gesucht|gelesen|geprüft|überprüft|zu|bereit|arbeiten|bestätige|akzeptiere|"
        r"verstehe)"
    ),
    (
        r"(?:yo )?(?:he|estoy|acepto|confirmo|quiero|me gustaría|entiendo)\b.*"
        r"(?:buscado|leído|revisado|verificado|comprobado|acuerdo|dispuesto|acepto|"
        r"confirmo|trabajar|entiendo)"
    ),
    (
        r"(?:eu )?(?:já )?(?:pesquisei|procurei|li|verifiquei|confirmei|concordo|"
        r"aceito|confirmo|gostaria de|quero (?:trabalhar|contribuir))\b"
    ),
    r"я (?:уже )?(?:искал|поиска|прочита|провери|соглас|подтвержда|хочу|готов)",
)
_CONSENT: Final = re.compile("|".join(_SAID))
_STATEMENT: Final = re.compile(
    r"there (?:is|are|was|were)\b"
    r"|(?:this|the|my) (?:proposed )?(?:pr|pull request|patch|change|feature|issue|bug|"
    r"commit|code|documentation|test)s? (?:is|are|was|were|has|have|does|do)\b"
)
_MARKUP: Final = re.compile(r"\[([^\]]*)\]\([^)]*\)|[*_`~\"“”<>]")
_LONGEST: Final = 400


def is_consent(label: str) -> bool:
    """Whether a box's words are what its author says of themself.

    Args:
        label: the first lines of an item, Markdown.
    """
    return _CONSENT.match(plain(label)) is not None


def is_statement(label: str) -> bool:
    """Whether a box's words say how things are; beside consent, a form asks for them.

    Such as "There is a reproducer", "The PR is proposed to the proper branch".
    """
    return _STATEMENT.match(plain(label)) is not None


def plain(label: str) -> str:
    """Return a box's words so that they compare: no markup, one case, one space."""
    text = unicodedata.normalize("NFKC", label[:_LONGEST]).replace("\u2019", "'")
    words = _MARKUP.sub(lambda found: found[1] or "", text).casefold().split()
    return " ".join(words).strip(" .。!;*")
