"""What the job's page shows, and that agents cannot write workflow commands on it."""

import re

from convoy.model.session_result import Walls, walls_in_words
from grite.git import pair_of
from runner.session.job_annotations import error, output
from tests.runner.job import TOKEN, Forge


def test_a_command_is_escaped_as_the_toolkit_does() -> None:
    shown = error("50%\r\nof a:b, c", "x: a,b%")

    assert shown == "::error title=x%3A a%2Cb%25::50%25%0D%0Aof a:b, c"


def test_an_output_cannot_be_ended_from_within() -> None:
    lines = output("summary", "a\nghadelimiter_\nb=c").splitlines()

    mark = lines[0].removeprefix("summary<<")
    assert re.fullmatch("ghadelimiter_[0-9a-f]{32}", mark)
    assert lines[1:] == ["a", "ghadelimiter_", "b=c", mark]
    assert output("a", "b") != output("a", "b")


def test_outputs_and_summary_are_added_to_what_is_there(forge: Forge) -> None:
    outputs, page = forge.root / "outputs", forge.root / "page"
    outputs.write_text("a=b\n")
    left = forge.run(
        forge.started("sh", "-c", "echo 1 > a; echo '```'; echo '### `x` ````'"),
        GITHUB_OUTPUT=str(outputs),
        GITHUB_STEP_SUMMARY=str(page),
    )

    text = outputs.read_text()
    found = re.findall(r"(?ms)^(\S+)<<(\S+)\n(.*?)\n\2$", text)
    assert text.startswith("a=b\n")
    assert {name: value for name, _, value in found if value} == {
        "conclusion": "success",
        "session-id": "fix-login-7/2/1",
        "attempt": "1",
        "branch": "convoy/fix-login-7/task-2",
        "head-sha": left.result["commit"],
        "result-file": str(left.folder / "result.json"),
        "transcript-file": str(left.folder / "transcript.jsonl"),
        "duration-seconds": f"{left.result['seconds']:.0f}",
        "summary": "### `x` ````",
    }
    walls = walls_in_words(Walls(**left.result["walls"]))
    assert page.read_text() == (
        "### brat fix-login-7/2/1: success\n\n```\nChanged 1 file.\n```\n\nThe agent "
        "said:\n\n`````\n### `x` ````\n`````\n\nIsolation of the agent: "
        f"{walls}\n\nChanged:\n\n```\na\n```\n"
    )


def test_a_log_that_is_cut_off_says_where_the_rest_is(forge: Forge) -> None:
    script = "yes abcdefg | head -n 200000; echo 1 > a"
    left = forge.run(forge.started("sh", "-c", script), GITHUB_ACTIONS="true")

    cut, _, _, ended = left.out.splitlines()[-4:]
    assert cut == (
        "[the rest of the output is in transcript.jsonl, in the artifact brat-result]"
    )
    assert ended == "fix-login-7/2/1: success. Changed 1 file."


def test_live_output_is_shown_where_no_command_is_obeyed(forge: Forge) -> None:
    evil, who = "::set-env name=x::y", "brat fix-login-7/2/1: failure"
    started = forge.started("sh", "-c", f"echo {evil}; exit 4")
    left = forge.run(started, GITHUB_ACTIONS="true")

    masked, *lines = left.out.splitlines()
    assert masked == f"::add-mask::{pair_of(TOKEN)}"
    mark = lines[0].removeprefix("::stop-commands::")
    assert re.fullmatch("[0-9a-f]{32}", mark)
    assert lines == [
        f"::stop-commands::{mark}",
        evil,
        "",
        f"::{mark}::",
        error(f"The agent exited with status 4: {evil}.", who),
    ]
