"""CBOR as grite writes it: arrays, integers, text, bytes, null; never a tag.

What is read may come from an agent's machine. A tag can make a small input unfold
without end, or run a parser that has no business here, so every tag is refused, and so
are map keys whose hashes can be made to collide.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn

import cbor2

from grite.errors import Corrupt


def write(value: object) -> bytes:
    """Return the CBOR of `value`, definite lengths and shortest heads.

    Raises:
        ValueError: text that is not valid Unicode, or a value CBOR has no form for.
    """
    try:
        return cbor2.dumps(value)
    except (cbor2.CBOREncodeError, UnicodeEncodeError, OverflowError) as error:
        raise ValueError(f"no CBOR can be made of it: {error}") from error


def read(data: bytes) -> object:
    """Return the first value in `data`, arrays as tuples; what follows is ignored.

    Raises:
        Corrupt: it is no CBOR, or holds a tag.
    """
    try:
        return cbor2.loads(
            data,
            immutable=True,
            semantic_decoders=_NO_TAGS,
            tag_hook=_refuse,
            strict_hashable_types=True,
        )
    except (cbor2.CBORError, ValueError, RecursionError, MemoryError) as error:
        raise Corrupt(f"bad CBOR: {error}") from error


def _refuse(*_: object) -> NoReturn:
    raise ValueError("tags have no place in the log")


class _NoTags(Mapping[int, Callable[..., Any]]):
    """Answers for each tag there is that it is refused."""

    def __getitem__(self, tag: int) -> Callable[..., Any]:
        return _refuse

    def __iter__(self) -> Iterator[int]:
        return iter(())

    def __len__(self) -> int:
        return 1


_NO_TAGS = _NoTags()
