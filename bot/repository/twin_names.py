"""Names that differ only in case or Unicode form: macOS and Windows hold only one."""

from unicodedata import normalize

import pygit2


def has_twin(tree: pygit2.Tree, path: str, *, is_other: bool = False) -> bool:
    """Whether a tree holds a file, or a folder for it, that differs only so from one.

    `is_other`: a folder above already does.
    """
    name, _, rest = path.partition("/")
    for entry in tree:
        here = (entry.raw_name or b"").decode(errors="surrogateescape")
        if _folded(here) != _folded(name):
            continue
        other = is_other or here != name
        if rest and isinstance(entry, pygit2.Tree):
            if has_twin(entry, rest, is_other=other):
                return True
        elif other:
            return True
    return False


def _folded(name: str) -> str:
    return normalize("NFC", name).casefold()
