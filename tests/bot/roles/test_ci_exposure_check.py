"""What CI would hand to agents' code: said on the issue before the first task."""

from pathlib import Path

from brat.forge.storage.git_storage import Bare
from grite import git
from tests.bot.lobby import Lobby, lobby

CONFIG = '[engine.default]\ntype = "shell"\nargs = ["true"]\n'
CI = """\
on: push
jobs:
  test:
    environment: prod
    steps:
      - run: make test
        env: {TOKEN: "${{ secrets.NPM_TOKEN }}"}
"""


def commit(here: Lobby, name: str, text: str, folder: Path) -> None:
    """Put a file on the default branch."""
    repo = here.forge.known(here.loop.context.settings.repository)
    bare: Bare = here.forge.bare(repo)
    git.run(["clone", "--quiet", str(bare.path), str(folder)])
    (folder / name).parent.mkdir(parents=True)
    (folder / name).write_text(text)
    who = ["-c", "user.name=you", "-c", "user.email=you@example.org"]
    git.run(["add", "."], cwd=folder)
    git.run([*who, "commit", "--quiet", "-m", "Add CI"], cwd=folder)
    git.run(["push", "--quiet", "origin", "HEAD"], cwd=folder)


async def asked(here: Lobby) -> list[str]:
    """Ask for a convoy; return what is said on the issue beside its comment."""
    await here.write("Spell words", "@brat\n\n- [ ] one\n")
    await here.delivered(1)
    await here.loop.tick()
    await here.loop.tick()
    assert len(here.convoys()) == 1
    return [said for said in here.said() if "fork's pull request" in said]


async def test_what_agents_code_would_get_is_named_once(tmp_path: Path) -> None:
    async with lobby(tmp_path, config=CONFIG, sole=False) as here:
        commit(here, ".github/workflows/ci.yml", CI, tmp_path / "checkout")

        (said,) = await asked(here)

        assert "ci.yml, job test: it names no permissions" in said
        assert "NPM" in said
        assert "the environment prod" in said


async def test_nothing_is_said_of_ci_that_only_reads(tmp_path: Path) -> None:
    safe = "on: push\npermissions: {contents: read}\njobs: {test: {steps: []}}\n"
    async with lobby(tmp_path, config=CONFIG, sole=False) as here:
        commit(here, ".github/workflows/ci.yml", safe, tmp_path / "checkout")

        assert await asked(here) == []
