"""Which files tell CI what to run, whatever the CI."""

from convoy.gate import ci_files
from tests.world.cases import looped


@looped(
    "path",
    [
        ".github/workflows/ci.yml",
        ".GitHub/Workflows/ci.yml",
        ".github/actions/setup/run.sh",
        "tools/lint/action.yml",
        "action.yaml",
        ".circleci/config.yml",
        ".gitlab-ci.yml",
        "Jenkinsfile",
        "jobs/Jenkinsfile.nightly",
        ".buildkite/pipeline.yml",
        "azure-pipelines.yml",
        ".travis.yml",
        ".woodpecker/test.yml",
        ".gitea/workflows/ci.yaml",
    ],
)
def test_a_file_that_ci_reads_is_told_from_others(path: str) -> None:
    others = ("src/a.py", "docs/workflows/ci.md", "src/.travis.yml.py", "reaction.yml")
    assert ci_files((path, *others)) == (path,)
