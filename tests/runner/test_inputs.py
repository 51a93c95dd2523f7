"""What a job may be told, and the one sentence it says to all else."""

import pytest

from runner.inputs import job_inputs
from runner.inputs.job_inputs import BadInput
from tests.runner.job import Forge
from tests.world.cases import looped

NOBODY = "0" * 40


@looped(
    ({"BRAT_SESSION": None}, "BRAT_SESSION is not set."),
    ({"BRAT_SESSION": "x"}, "BRAT_SESSION: 'x' is not the name of a session; "),
    ({"BRAT_LOG": "main"}, "BRAT_LOG is 'main'; it should be a full commit "),
    ({"BRAT_RESULT": ""}, "BRAT_RESULT is not set."),
    ({"BRAT_RESULT": "/etc"}, "BRAT_RESULT is '/etc', which is not empty. "),
    ({"BRAT_RESULT": "/etc/passwd"}, "BRAT_RESULT is '/etc/passwd', which is not "),
    ({"RUNNER_TEMP": None}, "RUNNER_TEMP is not set."),
    ({"GITHUB_WORKSPACE": None}, "GITHUB_WORKSPACE is not set."),
    ({"GITHUB_REPOSITORY": "../x"}, "GITHUB_REPOSITORY is '../x'; it should look "),
    ({"GITHUB_REPOSITORY": "a/b/c"}, "GITHUB_REPOSITORY is 'a/b/c'; it should look "),
    ({"GITHUB_REPOSITORY_ID": None}, "GITHUB_REPOSITORY_ID is not set."),
    ({"GITHUB_REPOSITORY_ID": "x"}, "GITHUB_REPOSITORY_ID is 'x'; it should look "),
    ({"GITHUB_SHA": "main"}, "GITHUB_SHA is 'main'; it should be a full "),
    ({"GITHUB_SERVER_URL": "ext::sh"}, "GITHUB_SERVER_URL is 'ext::sh'; it should "),
    ({"GITHUB_SERVER_URL": "https://u:p@x"}, "GITHUB_SERVER_URL is 'https://u:p@x'"),
    ({"BRAT_TOKEN": "a b"}, "The token contains invalid characters."),
    ({"BRAT_TOKEN_FD": "1"}, "BRAT_TOKEN_FD is '1'. Use a file descriptor, 3 or "),
    ({"BRAT_TOKEN_FD": "99"}, "BRAT_TOKEN_FD is 99, which cannot be read: Bad "),
    (
        {"BRAT_TOKEN": None, "GITHUB_SERVER_URL": "http://127.0.0.1"},
        "There is no token to fetch with. Set BRAT_TOKEN, or set BRAT_TOKEN_FD to ",
    ),
)
def test_bad_input_gets_one_sentence(
    changes: dict[str, str | None], sentence: str, forge: Forge
) -> None:
    with pytest.raises(BadInput) as caught:
        job_inputs.read_inputs(forge.environment(NOBODY, **changes))

    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


def test_a_commit_or_base_that_the_forge_does_not_have_is_bad_input(
    forge: Forge,
) -> None:
    left = forge.left_by(forge.begin(NOBODY))

    assert left.status == 2
    assert left.err.startswith(f"brat: Cannot fetch {NOBODY} from file://")
    assert left.err.count("\n") == 1
    assert not (forge.root / "result").exists()
    left = forge.run(forge.started("sh", "-c", "echo 1 > a", base=NOBODY))
    assert left.status == 2
    assert left.err.startswith(f"brat: Cannot fetch {NOBODY}")
    assert left.names == {"events.bin"}
