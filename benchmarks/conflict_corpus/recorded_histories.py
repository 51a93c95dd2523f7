"""The public histories the corpus is taken from, each up to one commit."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from grite import git
from grite.errors import BratError


@dataclass(frozen=True, kw_only=True)
class Recorded:
    """A project on GitHub."""

    name: str
    head: str
    language: str
    tests: tuple[str, ...] = ()
    """What pytest is told where the tests need no other project."""


RECORDED: Final = (
    Recorded(
        name="pallets/click",
        head="2c8cd3ac958a7eb316d67f2d316c27086c4c0369",
        language="Python",
        tests=("tests",),
    ),
    Recorded(
        name="pallets/flask",
        head="2ac89889f4cc330eabd50f295dcef02828522c69",
        language="Python",
    ),
    Recorded(
        name="pallets/jinja",
        head="5ef70112a1ff19c05324ff889dd30405b1002044",
        language="Python",
        tests=("tests",),
    ),
    Recorded(
        name="pallets/werkzeug",
        head="1b00618e787f40dfb21eba29caf8f8be7c8e1d93",
        language="Python",
    ),
    Recorded(
        name="psf/requests",
        head="1f6589ec3a1ee910f9a65cc3ceac60b26677bc0e",
        language="Python",
    ),
    Recorded(
        name="aio-libs/aiohttp",
        head="495e778360d1924da63e16dba0f0d76baf56a56a",
        language="Python",
    ),
    Recorded(
        name="expressjs/express",
        head="a3714473feb3d2908add734d340e7755fd85e0a3",
        language="JavaScript",
    ),
    Recorded(
        name="mochajs/mocha",
        head="e6b9ee773481fd739ae24caeb42f32ac0b010f95",
        language="JavaScript",
    ),
    Recorded(
        name="gin-gonic/gin",
        head="dcaa4296d111981ffb31ac3eba90bb63e1eb5ab9",
        language="Go",
    ),
    Recorded(
        name="rust-lang/cargo",
        head="af373f761aa4e42b093c2e453078fd73c8ce54dd",
        language="Rust",
    ),
)


def clone_of(project: Recorded, histories: Path) -> Path | None:
    """Return the clone of a project below a folder; None where there is none.

    It is called `owner+name`, `owner/name`, `name` or `name.git`, or is `repo` in it.

    Raises:
        BratError: the clone lacks the commit whose history counts.
    """
    for place in _places(project.name, histories):
        if not ((place / "HEAD").is_file() or (place / ".git").exists()):
            continue
        asked = ["cat-file", "-e", f"{project.head}^{{commit}}"]
        if git.run(asked, cwd=place, check=False).status != 0:
            raise BratError(
                f"the clone of {project.name} in {place} lacks the commit "
                f"{project.head}: fetch its whole history"
            )
        return place
    return None


def _places(name: str, histories: Path) -> Sequence[Path]:
    short = name.rpartition("/")[2]
    named = [name.replace("/", "+"), name, short, f"{short}.git"]
    return [histories / each / end for each in named for end in ("", "repo")]
