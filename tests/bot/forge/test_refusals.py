"""Refusals are read as data, from the sentences that forges write."""

import re
from pathlib import Path

import msgspec
from hypothesis import given, strategies as st

from bot.forge.refusals import refusal_of_push, refusal_of_rest
from bot.forge.rest import Refused
from convoy.events.forge_actions import ItemSetAside
from grite.push_answer import push_answer
from tests.world.cases import looped

TRANSCRIPTS = Path(__file__).with_name("transcripts")
SENTENCES = Path(__file__).with_name("refusal_sentences.toml")
BRANCH = "refs/heads/convoy/g/task-1"
PROTECTED = "protected-branch"
PASSING = {
    *("checks-awaited", "not-mergeable", "limited", "server-trouble", "unauthorized"),
    "conflict",
}


class Sentence(msgspec.Struct, frozen=True):
    """A sentence of a forge, and the rule that it means; status 0: of a push."""

    rule: str
    source: str
    said: str
    status: int = 0
    what: str = "POST /repos/you/widgets/issues/1/comments"
    needs: str = ""
    errors: tuple[str, ...] = ()

    @property
    def read(self) -> ItemSetAside:
        if not self.status:
            return refusal_of_push(self.said, BRANCH)
        error = Refused(
            self.what, self.status, self.said, needs=self.needs, errors=self.errors
        )
        return refusal_of_rest(error)


TOLD = msgspec.toml.decode(SENTENCES.read_bytes(), type=dict[str, list[Sentence]])
OF_PUSHES, OF_REQUESTS = TOLD["pushes"], TOLD["requests"]


LINE = re.compile(r" ([-!*]) (\[[^]]*\])\s+(?:(\S+) -> )?(\S+)( \(.*\))?")
"""How git shows people what became of a ref."""
PRINTED = {
    "default-branch-deletion": "unknown",
    "hidden-ref": "unknown",
    "large-file": "file-too-large",
    "large-push": "file-too-large",
    "protection-beside-a-tag": "checks-awaited",
    "protection-force-push": PROTECTED,
    "protection-pull-request": PROTECTED,
    "protection-until-2024": PROTECTED,
    "ruleset-bypassed": "",
    "ruleset-bypassed-deletion": "",
    "ruleset-force-push": "rule-violation",
    "ruleset-pull-request": "rule-violation",
    "ruleset-signatures": "signature-wanted",
    "ruleset-status-checks": "rule-violation",
    "ruleset-tag-update": "rule-violation",
    "secrets": "secret-found",
    "workflow-right": "workflows-right",
    "workflow-right-until-2025": "workflows-right",
}
"""By the name of the transcript; empty: nothing was refused."""


def test_what_git_prints_against_github_is_read_ref_by_ref() -> None:
    files = {file.stem: file for file in TRANSCRIPTS.glob("*.txt")}
    assert files.keys() == PRINTED.keys()
    for name, rule in PRINTED.items():
        text, lines = files[name].read_text(), dict[str, str]()
        for flag, what, _, short, why in map(
            re.Match.groups, filter(None, map(LINE.match, text.splitlines()))
        ):
            named = re.search(rf"\brefs/\w+/{re.escape(short)}\b", text)
            kind = "refs/tags/" if "tag" in what else "refs/heads/"
            ref = named[0] if named else short if short[:5] == "refs/" else kind + short
            lines[ref] = f"{flag}\tHEAD:{ref}\t{what}{why or ''}"
        answer = push_answer([*lines], "\n".join(lines.values()), text)

        found = [refusal_of_push(one.said, one.ref).rule for one in answer.refused]
        assert found == [rule] * bool(rule), name
        refused = {one.ref for one in answer.refused}
        others = {one.verdict for one in answer.refs if one.ref not in refused}
        assert others <= {"taken"}, name


WAITS = "GH006: Protected branch update failed for refs/heads/main. {} (hook declined)"
CLOSE_BY = (
    Sentence("checks-awaited", "", WAITS.format("Required status check b is pending.")),
    Sentence(PROTECTED, "", WAITS.format("Required status check b is failing.")),
    Sentence("hook", "", "no work in progress here, try again later (hook declined)"),
)
"""Made up: what words alike do not mean."""


@looped(*OF_PUSHES, *OF_REQUESTS, *CLOSE_BY)
def test_a_forges_sentence_is_read_as_its_rule(sentence: Sentence) -> None:
    refusal = sentence.read

    assert refusal.rule == sentence.rule
    assert refusal.passing == (sentence.rule in PASSING)
    assert refusal.helps.endswith(".")


def test_the_permission_that_the_forge_names_is_told() -> None:
    assert OF_REQUESTS[0].read == ItemSetAside(
        item="",
        rule="missing-permission",
        helps="Grant the bot issues: write or pull_requests: write and contents: read: "
        "in its workflow, its token, or its App and where that is installed.",
        why="the forge refused a comment on issue 1: "
        "Resource not accessible by integration",
    )


@given(st.text(), st.text(), st.lists(st.text(), max_size=3))
def test_what_a_stranger_writes_is_one_clean_line(
    said: str, more: str, errors: list[str]
) -> None:
    hostile = f"{said}@alice https://evil.example ![x](y) <b> #12 `{more}`\x1b[31m"
    error = Refused(f"GET /{more}", 403, hostile, errors=tuple(errors))

    for refusal in (refusal_of_rest(error), refusal_of_push(hostile, BRANCH)):
        assert "\n" not in refusal.why
        assert "\x1b" not in refusal.why
        assert len(refusal.why) < 600
