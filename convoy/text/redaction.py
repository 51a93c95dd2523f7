"""What counts as a secret in a text, and how it is hidden or refused.

`redacted` hides what is told by its shape, wherever text is kept or shown: issues and
comments before they enter the log, an agent's output before anybody reads it.
"""

import re
from collections.abc import Iterable
from itertools import chain
from typing import Final

HIDDEN: Final = "***"
SHORTEST: Final = 8
"""A shorter known value would hide ordinary words."""

_BASE64: Final = r"[A-Za-z0-9+/=]"
# GitHub, OpenAI and Anthropic, AWS, Slack, GitLab, private keys.
# https://github.blog/engineering/platform-security/behind-githubs-new-authentication-token-formats/
_SECRET: Final = re.compile(
    rf"""
      \bgh[pousr]_[A-Za-z0-9]{{16,}} | \bgithub_pat_\w{{20,}}
    | \bghs_[0-9]+_eyJ[\w.-]{{16,}}
    | \bsk-[\w-]{{20,}}
    | \b(?:AKIA|ASIA)[0-9A-Z]{{16}}\b
    | \bxox[abeprs]-[\w-]{{10,}}
    | \bglpat-[\w-]{{20,}}
    | -----BEGIN[ ][A-Z0-9 ]{{0,30}}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
      (?:(?:(?!-----BEGIN[ ])[\s\S])*?
         -----END[ ][A-Z0-9 ]{{0,30}}PRIVATE[ ]KEY(?:[ ]BLOCK)?-----
        |(?:\s+{_BASE64}{{16,}})*)
    """,
    re.VERBOSE | re.ASCII,
)
# A JSON web token is one with the rest. Its first part is taken without it, too, so
# that none is read again from each place where one might begin.
_WEB_TOKEN: Final = re.compile(
    r"\beyJ[\w-]{10,}+(?P<rest>\.[\w-]{10,}+\.[\w-]{5,}+)?", re.ASCII
)
# What is told by its name: a value in quotes, or one of letters and digits mixed. Code
# that only fetches a secret has dots, brackets or a dollar sign there.
_NAMED: Final = re.compile(
    r"""(?P<name>(?:pass(?:word|wd|phrase)|secret|token|api[_-]?key|access[_-]?key)
        [\w-]{0,20}["']?[ \t]*(?::=|=>|[:=])[ \t]*)
    (?:(?P<quote>["'])[^"'\s$<{]{8,}(?P=quote)
      | (?=[A-Za-z_]*[0-9])(?=[0-9_]*[A-Za-z])[A-Za-z0-9+/=_-]{12,}(?![\w.(\[]))""",
    re.VERBOSE | re.ASCII | re.IGNORECASE,
)
_IN_ADDRESS: Final = re.compile(r"(?<=://)[^\s/:@]{0,100}:[^\s/@]{1,200}(?=@)")


def redacted(text: str) -> str:
    """Return a text with `***` for what looks like a secret; safe to do twice.

    Known shapes of tokens, private keys, passwords in addresses, and values whose names
    say so. What is known to be secret is found by its value: see `Redaction`.
    """
    text = _WEB_TOKEN.sub(lambda found: HIDDEN if found["rest"] else found[0], text)
    text = _IN_ADDRESS.sub(HIDDEN, _SECRET.sub(HIDDEN, text))
    return _NAMED.sub(rf"\g<name>\g<quote>{HIDDEN}\g<quote>", text)


_RUN: Final = re.compile(rf"(?<!{_BASE64})(?=[A-Za-z+/=]*[0-9]){_BASE64}{{16}}")


def secrets_in(text: str) -> frozenset[str]:
    """Return what has the shape of a token or private key and is more than its name.

    Stricter than `redacted`: for what is refused because of it, not only hidden.
    """
    tokens = (each[0] for each in _WEB_TOKEN.finditer(text) if each["rest"])
    found = chain(tokens, (each[0] for each in _SECRET.finditer(text)))
    return frozenset(each for each in found if _RUN.search(each))


class Redaction:
    """Hides what looks like a secret, and secrets that are known."""

    def __init__(self, secrets: Iterable[str]) -> None:
        known = sorted({each for each in secrets if len(each) >= SHORTEST}, key=len)
        # The longest first: one may be the beginning of another.
        parts = (re.escape(each) for each in reversed(known))
        self._known = re.compile("|".join(parts) or r"(?!)")

        self.known = tuple(known)

    def but(self, texts: Iterable[str]) -> "Redaction":
        """Return one that does not know what stands in these texts for all to see."""
        shown = tuple(texts)
        return Redaction(
            each for each in self.known if not any(each in text for text in shown)
        )

    def known_in(self, text: str) -> frozenset[str]:
        return frozenset(self._known.findall(text))

    def __call__(self, text: str) -> str:
        """Return `text` with its secrets hidden; safe to call twice."""
        return redacted(self._known.sub(HIDDEN, text))


NO_SECRETS: Final = Redaction(())
"""Knows none by its value."""
