"""What owners do with the names of their repositories on the local forge.

https://docs.github.com/repositories/creating-and-managing-repositories/renaming-a-repository
"""

from pathlib import Path

from brat.forge.storage.forge_state import Forge


def rename(forge: Forge, full_name: str, name: str) -> str:
    """Give a repository another name; its id and all that is in it stay.

    Returns:
        The new full name; the old one is free.
    """
    repo = forge.known(full_name)
    bare = forge.bare(repo)
    bare.close()
    path = bare.path.rename(bare.path.with_name(f"{name}.git"))
    bare.path = path
    return forge.update(repo, name=name).full_name


def create(forge: Forge, full_name: str, source: Path) -> int:
    """Create a public repository in which the bot may write; return its id."""
    made = forge.add_repository(full_name, source=source)
    forge.grant(full_name, "brat[bot]", "write")
    return made.id
