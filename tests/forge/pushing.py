"""Pushing in tests, and git's answer for each ref."""

from tests.world.forge import Checkout, Town

RULES = "(push declined due to repository rule violations)"
PROTECTED = "(protected branch hook declined)"


async def push(checkout: Checkout, *words: str) -> dict[str, str]:
    """Push and return git's word for each ref: its flag, and the text in brackets."""
    done = await checkout.run("push", "--porcelain", "origin", *words, check=False)
    found = {}
    for line in done.stdout.decode().splitlines():
        if line.count("\t") == 2:
            flag, names, said = line.split("\t")
            bracket = said.find("(")
            found[names.rpartition(":")[2]] = (
                flag + said[bracket:] if flag == "!" and bracket >= 0 else flag
            )
    return found


def tips(here: Town) -> dict[str, str]:
    return here.forge.bare(here.forge.known("alice/app")).refs()


async def green(here: Town, sha: str, *names: str, by: str = "bot") -> None:
    for name in names:
        body = {"name": name, "head_sha": sha, "conclusion": "success"}
        await here.post("check-runs", body, by=by)
