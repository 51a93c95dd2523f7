"""What is known about a repository, for whoever plans work on it."""

from msgspec import Struct


class Survey(Struct, frozen=True, kw_only=True):
    """What is known about a repository without running anything in it."""

    files: int
    folders: tuple[tuple[str, int], ...]
    """Folders and how many files lie below each, by name."""
    languages: tuple[tuple[str, int], ...]
    """Endings of files and how many, the most frequent first."""
    tests: tuple[str, ...] = ()
    """The commands that run its tests, the most likely first."""
    owners: str = ""
    """Its CODEOWNERS file, cut."""
    busy: tuple[str, ...] = ()
    """The files that changed most in recent commits."""
    together: tuple[tuple[str, str, int], ...] = ()
    """Files that changed in the same commits, and in how many commits."""
    used: tuple[tuple[str, int], ...] = ()
    """The files that most others import, and how many do."""
    uses: tuple[tuple[str, str, int], ...] = ()
    """Folders that import from others, and how many of their files do."""
