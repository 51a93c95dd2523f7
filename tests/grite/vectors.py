"""grite's published vectors, and four more.

V1 to V10: https://github.com/neul-labs/grite/blob/main/docs/hash-vectors.md
D11 to D14 are derived from grite's source, as it publishes none for these kinds.
"""

from typing import Final

from grite import event

ISSUE = bytes(range(16))
ACTOR = bytes(range(16, 32))
T0 = 1_700_000_000_000
OTHER = bytes.fromhex("aabbccddeeff00112233445566778899")


def other(tag: int, *fields: object) -> event.UnknownKind:
    return event.UnknownKind(tag, event.write_cbor(fields))


CONTEXT = other(
    13,
    "src/main.rs",
    "rust",
    (("Config", "struct", 12, 20), ("main", "function", 1, 10)),
    "Entry point",
    b"\xaa" * 32,
)

KINDS: Final[tuple[tuple[int, event.Kind], ...]] = (
    (0, event.IssueCreated("Test", "Body", ("p0", "bug"))),
    (0, other(2, "Title 2", None)),
    (1000, event.CommentAdded("Looks good")),
    (2000, event.LabelAdded("bug")),
    (3000, event.LabelRemoved("wip")),
    (4000, event.StateChanged("closed")),
    (5000, other(7, "https://example.com", "ref")),
    (6000, other(8, "alice")),
    (7000, other(9, "alice")),
    (8000, other(10, "log.txt", bytes(range(32)), "text/plain")),
    (9000, other(11, OTHER, "blocks")),
    (10000, other(12, OTHER, "blocks")),
    (11000, CONTEXT),
    (12000, other(14, "framework", "actix-web")),
)
"""What each vector's event says, and how many ms after `T0`."""
IDS: Final = [
    "9c2aee7924bf7482dd3842c6ec32fd5103883b9d2354f63df2075ac61fe3d827",
    "5227efec6ae3d41725827edb3e62d00a595784d7adec58fb4e1b787c44c4b333",
    "fca597420160df9f7230b28384a27dc86656b206520e5c8085e78cbb02a46e27",
    "d742a0d9c83f17176e30511d62045686b491ddf55f8d1dfe7a74921787bdd436",
    "f23e9c69c3fa4cd2889e57fe1c547630afa132052197a5fe449e6d5acf22c40c",
    "839ae6d0898f48efcc7a41fdbb9631e64ba1f05a6c1725fc196971bfd1645b2b",
    "b8af76be8b7a40244bb8e731130ed52969a77b87532dadf9a00a352eeb00e3b5",
    "42f329d826d34d425dd67080d91f6c909bc56411c9add54389fbec5d457b14e4",
    "bfb0fdfed0f0ee36f31107963317dd904143f37d9ef8792f64272cf2f07f6a1e",
    "dc83946d33437f0b73d8b04c63f7b0b85b9e9a24e790fee3ca129d3d8b870749",
    "9bbb4104ef846b99bd62441c108717ee005b12e0befb0505b0aba3b0fc986f84",
    "3347b394f3062836accad7a565cb3a47d640935aa7695f4c058d2367def5f880",
    "498fe2431a7fe7a958e376c919aece8a3a2b4c3922c4e6a2d10cacff530369af",
    "5fd49124b0b7c3eca89db319723eb0f4d84ece945d71c6f2e1ea8a408fafc145",
]
VECTORS: Final = [(*kind, name) for kind, name in zip(KINDS, IDS, strict=True)]


def vector(number: int) -> tuple[event.Event, str]:
    """Return the event of a vector and its id; only the third has a parent."""
    after_ms, kind, expected = VECTORS[number - 1]
    parent = bytes(range(0x20, 0x40)) if number == 3 else None
    return event.Event(ISSUE, ACTOR, T0 + after_ms, kind, parent), expected
