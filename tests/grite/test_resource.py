import pytest

from grite.resource import BOT, GLOBAL, overlaps, validate
from tests.world.cases import looped


@looped(
    ("path:src", "path:src/a.py", True),
    ("path:src/", "path:src", True),
    ("path:src/", "path:src/a.py", True),
    ("path:sr", "path:src", False),
    ("path:src/a", "path:src/a.py", False),
    ("path:src/a.py", "path:src/b.py", False),
    ("port:80", "port:8080", False),
    ("port:80", "service:80", False),
    (GLOBAL, "path:src", True),
    (GLOBAL, BOT, False),
    (BOT, BOT, True),
    (BOT, "path:src", False),
)
def test_overlaps_as_the_table_says(a: str, b: str, expected: object) -> None:
    assert overlaps(a, b) is overlaps(b, a) is expected


@looped(
    *("", "src/a.py", "file:src", "path:", "path:/etc", "path:src/../..", "path:./src"),
    *("path:src//a.py", "path:src\n", "path: src", "issue:", "port:http", "port:0"),
    *("port:65536", "port:²", "service:half \ud800"),
)
def test_what_cannot_be_leased_is_refused_with_one_sentence(resource: str) -> None:
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        validate(resource)


@looped(GLOBAL, BOT, "path:src/größe v2/", "issue:abc123", "port:65535", "service:mail")
def test_what_can_be_leased_is_taken(resource: str) -> None:
    validate(resource)
