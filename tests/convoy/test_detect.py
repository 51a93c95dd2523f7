from inline_snapshot import snapshot

from convoy.gate import ci_files
from convoy.text.project_tests import propose_ci
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

PLACEHOLDER = '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'

EVERYTHING = {
    "Makefile": "test:\n\ttrue\n",
    "pytest.ini": "[pytest]\n",
    "package.json": '{"scripts": {"test": "node --test"}}',
    "Cargo.toml": "[package]\n",
    "go.mod": "module x\n",
    **dict.fromkeys(("mvnw", "pom.xml", "gradlew", "build.gradle.kts"), ""),
}


def command(files: dict[str, str]) -> str | None:
    found = propose_ci(files.keys(), files.get)
    return found.command if found else None


def test_the_order_is_the_one_that_is_written_down() -> None:
    files = dict(EVERYTHING)
    found: list[str] = []

    for name in EVERYTHING:
        proposal = propose_ci(files.keys(), files.get)
        assert proposal is not None
        found.append(f"{proposal.command}: {proposal.why}")
        del files[name]

    assert found == snapshot(
        [
            "make test: Makefile has a target named test",
            "python -m pytest -q: pytest.ini exists",
            "npm test: package.json has a script named test",
            "cargo test: Cargo.toml exists",
            "go test ./...: go.mod exists",
            "./mvnw -q verify: mvnw exists",
            "mvn -q verify: pom.xml exists",
            "./gradlew check: gradlew exists",
            "gradle check: build.gradle.kts exists",
        ]
    )
    assert command(files) is None
    unread = ["Makefile", "package.json", "pyproject.toml", "setup.cfg", "tox.ini"]
    assert propose_ci(unread, lambda _name: None) is None


@looped(
    *(
        ("make test", {"Makefile": f"all: build\n{text}\n"})
        for text in ("test:\n\ttrue", "all test: build", "test:: x", "test : x")
    ),
    ("make check", {"Makefile": "check: all\n\ttrue\n"}),
    ("cargo test", {"Makefile": "check: all\n", "Cargo.toml": "[package]\n"}),
    *(  # only looks like such a target
        (None, {"Makefile": text})
        for text in (
            *("tests:\n\ttrue", ".PHONY: test", "test := unit", "test ::= unit"),
            *("test :::= unit", "test = a:b", "# test: none", "all:\n\ttest: 1"),
            *("test-unit: x", ""),
        )
    ),
    # make reads the first alone
    (None, {"GNUmakefile": "all:\n", "Makefile": "test:\n"}),
    # a byte order mark hides none from npm
    ("npm test", {"package.json": f"\ufeff{EVERYTHING['package.json']}"}),
    *(  # by its settings, and by its files
        ("python -m pytest -q", files)
        for files in (
            *({"pytest.ini": ""}, {"conftest.py": ""}, {"tox.ini": "[pytest]\n"}),
            {"pyproject.toml": "[tool.pytest.ini_options]\n"},
            {"setup.cfg": "[metadata]\n[tool:pytest]\n"},
            *({"tests/test_auth.py": ""}, {"tests/unit/test_auth.py": ""}),
            *({"test/auth_test.py": ""}, {"test_auth.py": ""}),
        )
    ),
    *(
        (None, files)
        for files in (
            {"pyproject.toml": "[project]\nname = 'x'\n"},
            {"pyproject.toml": "[tool.pytest"},
            {"pyproject.toml": "[tool.pytest]\n" + "a." * 50_000 + "b = 1"},
            *({"pyproject.toml": "tool = 3"}, {"setup.cfg": "[metadata]\n"}),
            *({"src/test_auth.py": ""}, {"tests/auth.py": ""}),
            *({"tests/test_auth.pyc": ""}, {"package.json": PLACEHOLDER}),
            {"package.json": '{"scripts": {"test": " "}}'},
            {"package.json": '{"scripts": {"build": "x"}}'},
            *({"package.json": '{"scripts": []}'}, {"package.json": "[]"}),
            *({"package.json": "{"}, {"README.md": "make test"}, {}),
        )
    ),
)
def test_a_command_is_proposed_for_a_reason_and_for_no_other(
    told: str | None, files: dict[str, str]
) -> None:
    assert command(files) == told


@looped(
    *(".github/workflows/ci.yml", ".GitHub/Workflows/ci.yml"),
    *(".github/actions/setup/run.sh", "tools/lint/action.yml", "action.yaml"),
    *(".circleci/config.yml", ".gitlab-ci.yml", "Jenkinsfile"),
    *("jobs/Jenkinsfile.nightly", ".buildkite/pipeline.yml", "azure-pipelines.yml"),
    *(".travis.yml", ".woodpecker/test.yml", ".gitea/workflows/ci.yaml"),
)
def test_a_file_that_ci_reads_is_told_from_others(path: str) -> None:
    others = ("src/a.py", "docs/workflows/ci.md", "src/.travis.yml.py", "reaction.yml")
    assert ci_files((path, *others)) == (path,)


def test_a_checkout_made_to_be_slow_is_looked_at_in_one_pass() -> None:
    def read(pieces: int) -> None:
        command({"Makefile": "a" + " " * pieces})
        command({"test/" * pieces: ""})

    assert growth(read, 2_000) < LINEAR
    assert command({"a/tests/b/test_x.py": ""}) is not None
    assert command({"a/b/test_x.py": ""}) is None
