"""What git prints against the forge is what it prints against GitHub, and is read."""

import re
from pathlib import Path

import pytest

from bot.forge.refusals import refusal_of_push
from grite.git import Completed
from grite.push_answer import push_answer
from tests.forge.refused_pushes import PLAYS
from tests.world.forge import Town

pytestmark = pytest.mark.layer("landing")

FOLDER = Path(__file__).with_name("transcripts")


RULES = {
    "large-file": "file-too-large",
    "large-push": "file-too-large",
    "protection-beside-a-tag": "checks-awaited",
    "protection-force-push": "protected-branch",
    "protection-pull-request": "protected-branch",
    "ruleset-force-push": "rule-violation",
    "ruleset-pull-request": "rule-violation",
    "ruleset-signatures": "signature-wanted",
    "ruleset-status-checks": "rule-violation",
    "ruleset-tag-update": "rule-violation",
    "secrets": "secret-found",
    "workflow-right": "workflows-right",
}
"""By the name of the transcript."""


@pytest.mark.parametrize("name", sorted(PLAYS))
async def test_git_prints_what_it_prints_against_github(here: Town, name: str) -> None:
    transcript = (FOLDER / f"{name}.txt").read_text()

    done = await PLAYS[name](here, await here.clone())

    said = done.stderr + as_people_see(done.stdout.decode())
    assert plain(said, name) == plain(transcript, name)
    if name in RULES:
        assert read(done) == RULES[name]


def read(done: Completed) -> str:
    """Return the rule by which brat reads the only refusal of a push."""
    said = done.stdout.decode()
    lines = [line.split("\t") for line in said.splitlines() if line.count("\t") == 2]
    asked = [names.rpartition(":")[2] for _, names, _ in lines]
    answer = push_answer(asked, said, done.stderr)
    (refused,) = answer.refused
    assert {one.verdict for one in answer.refs if one != refused} <= {"taken"}
    return refusal_of_push(refused.said, refused.ref).rule


def test_every_transcript_is_played() -> None:
    there = {path.stem for path in FOLDER.glob("*.txt") if "until" not in path.stem}

    assert there == PLAYS.keys()


def as_people_see(porcelain: str) -> str:
    """Return the lines for each ref as git prints them without --porcelain."""
    return "\n".join(
        f" {flag} {said.partition('(')[0].strip()} REFS ({said.partition('(')[2]}"
        if "(" in said
        else f" {flag} {said} REFS"
        for flag, _, said in (
            line.split("\t") for line in porcelain.splitlines() if line.count("\t") == 2
        )
    )


def plain(text: str, name: str) -> list[str]:
    """Return the lines that say what was refused, without names and commits."""
    found = [
        _anonymous(line.rstrip())
        for line in text.splitlines()
        if re.match(r"remote:|error: remote| [!*-] ", line)
    ]
    if name == "protection-beside-a-tag":
        return sorted(line for line in found if line != "remote:")
    return found


def _anonymous(line: str) -> str:
    for pattern, word in (
        (r"\b[0-9a-f]{64}\b", "TRACE"),
        (r"\b[0-9a-f]{40}\b", "COMMIT"),
        (r"https?://[\w.:]+/[\w.-]+/[\w.-]+(?=/rules|/security)", "PAGE"),
        (r"(?<=unblock-secret/)\w+", "SECRET"),
        (r"refs(/|%2F)(heads|tags|pull)(/|%2F)[^\s:)]*[^\s:.)]", "REF"),
        (r"(?<=[\]] ).*(?= \()", "REFS"),
        (r"(?<=\[new tag\]).*|(?<=\[deleted\]).*", " REFS"),
        (r"`[^`]*\.yml`", "`FILE`"),
        (r"File \S+ is \S+ MB", "File FILE is SIZE MB"),
        (r"limit of \S+ MB", "limit of SIZE MB"),
        (r"maximum allowed size \(.*\)", "maximum allowed size (SIZE)"),
        (r"path: \S+:\d+", "path: FILE"),
    ):
        line = re.sub(pattern, word, line)
    return line
