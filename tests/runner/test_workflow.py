"""The workflow that adopters copy: checked as text, and run by act."""

import re
from pathlib import Path

from ruamel.yaml import YAML

from tests.world.cases import looped

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / "workflows").glob("*.yml"))


@looped("brat-jobs.yml", "brat-task.yml")
def test_the_copy_that_others_call_is_identical(name: str) -> None:
    copy = ROOT / ".github/workflows" / name

    assert copy.read_bytes() == (ROOT / "workflows" / name).read_bytes()


def test_people_copy_one_file_of_at_most_forty_lines() -> None:
    assert len((ROOT / "workflows/brat.yml").read_text().splitlines()) <= 40
    told = YAML(typ="safe").load(ROOT / "workflows/brat-jobs.yml")
    loop = told["jobs"]["loop"]["environment"]
    assert loop == {"name": "brat", "deployment": False}
    # Every other trigger is somebody's doing; brat-wake.yml is off without work.
    (net,) = YAML(typ="safe").load(ROOT / "workflows/brat.yml")["on"]["schedule"]
    assert net["cron"] == "22 */6 * * *", "four jobs a day"


@looped(*WORKFLOWS)
def test_no_pull_request_starts_a_job_and_none_is_checked_out(file: Path) -> None:
    text = file.read_text()
    starts = re.search(r"(?ms)^on:\n(.*?)^\S", text)

    assert starts is not None
    assert re.findall(r"(?m)^  pull_request(?!_review:)\S*", starts[1]) == []
    asked = set(re.findall(r"github\.event\.pull_request\.([\w.]+)", text))
    assert asked <= {"head.ref", "head.repo.full_name"}
    if asked:
        assert "pull_request.head.repo.full_name == github.repository" in text
    assert "github.head_ref" not in text
    assert "head_repository" not in text
    assert "actions/checkout" not in text


@looped(*WORKFLOWS)
def test_what_is_handed_over_is_kept_for_two_weeks(file: Path) -> None:
    text = file.read_text()
    uploads = re.findall(r"uses: actions/upload-artifact@[^-]*(?=\n\s*with:)", text)

    assert re.findall(r"(?m)^ +retention-days: (\d+)$", text) == ["14"] * len(uploads)
    assert bool(uploads) is (file.name.startswith("brat-task"))


def test_the_live_one_differs_by_what_the_feed_needs_and_by_nothing_else() -> None:
    plain, other = (
        re.sub("(?m)^#.*\n", "", (ROOT / "workflows" / name).read_text())
        for name in ("brat-task.yml", "brat-task-live.yml")
    )
    called = re.compile(r"(?ms)^  workflow_call:\n.*?\n(?=\npermissions)")
    plain = called.sub("", plain).replace("inputs.runs-on || ", "")
    plain = plain.replace("inputs.container || ", "")
    plain = re.sub(r"\$\{\{ inputs\.\w+ \|\| '' \}\}", '""', plain)

    task, live = plain.splitlines(), other.replace("-live", "").splitlines()
    assert [line for line in task if line not in live] == []
    assert [line.strip() for line in live if line not in task] == [
        "id-token: write # identifies the job, to the bot only",
        "BRAT_FEED_URL: ${{ vars.BRAT_FEED_URL }}",
    ]


@looped(*WORKFLOWS)
def test_actions_are_pinned_and_commands_hold_no_expression(file: Path) -> None:
    text = file.read_text()
    used = re.findall(r"(?m)^ +(?:- )?uses: (.*)", text)
    expressions = [line.strip() for line in text.splitlines() if "${{" in line]

    for use in used:
        is_ours = use.startswith("OWNER/brat/.github/workflows/brat-jobs.yml@COMMIT #")
        assert is_ours or re.match(r"[\w/-]+@[0-9a-f]{40} # v\d|\./", use)
    for line in expressions:
        name, _, value = line.partition(": ")
        assert re.fullmatch(r"[\w-]+", name), line
        assert name != "run", line
        assert value.startswith("${{") or name in {"group", "run-name"}, line
