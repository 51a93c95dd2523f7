"""What reaches an agent, and what its kind of engine adds to it."""

import sys
from contextlib import closing
from pathlib import Path

from msgspec.structs import replace

from convoy.text.redaction import Redaction
from runner.box.supervisor import Stop
from runner.box.surroundings import TOOL_CHOICES, TOOL_FOLDERS
from runner.engines import ENGINES
from runner.engines.row import Call, Vendor
from runner.inputs import job_inputs
from runner.proxy.proxy_protocol import ProxyOrder
from runner.session.proxy_client import ProxyClient
from runner.session.result_folder import Folder
from runner.session.session_run import BAD_INPUT, Session, secrets_of
from tests.documents.engine_tables import VARIABLES
from tests.runner.job import TOKEN, Forge
from tests.world.program import ran

HEAVY = {
    *("pydantic", "pygit2", "git", "aiohttp", "rich", "httpx", "psutil", "asyncio"),
    "tenacity",
    *("dataclasses", "difflib", "traceback", "http.client"),
}


def test_an_engine_gets_the_keys_its_row_asks_for_and_they_are_hidden(
    forge: Forge, tmp_path: Path
) -> None:
    row = replace(
        ENGINES["shell"],
        vendors=(Vendor("chat", "MODEL_KEY", "MODEL_URL", "/v1"),),
        sets=lambda call: {"ENGINE_HOME": str(call.home / "engine")},
    )
    keys = {"TEAM_KEY": "key-0123456789", "AWS_KEY": "aws-0123456789"}
    told = job_inputs.read_inputs(
        forge.environment("0" * 40, **keys, JAVA_HOME="/opt/java", PYTHONPATH="/x")
    )
    started = forge.started("true")
    spec = replace(started.engine, secret="TEAM_KEY")
    call = Call(row, spec, tmp_path / "p", tmp_path / "home").with_key(told.offered)
    folder = Folder(tmp_path / "result", started, lambda: 0)
    own = told, started, tmp_path, tmp_path, folder, Redaction(()), Stop()
    with closing(ProxyClient(ProxyOrder(), {}, is_boxed=True)) as proxy:
        env = Session(*own, call=call, proxy=proxy).engine_environment()

    assert env["MODEL_KEY"] == "key-0123456789"
    assert env["ENGINE_HOME"] == str(tmp_path / "home/engine")
    assert env["JAVA_HOME"] == "/opt/java"
    withheld = {"TEAM_KEY", "MODEL_URL", "AWS_KEY", "BRAT_TOKEN", "BRAT_LOG"}
    assert not {*withheld, "PYTHONPATH"} & env.keys()
    listed = {name for names in VARIABLES for name in names}
    of_tools = {*TOOL_FOLDERS, *TOOL_CHOICES, "MODEL_KEY", "ENGINE_HOME"}
    assert env.keys() - of_tools <= listed, "docs/engines.md lists them"
    hidden = Redaction(secrets_of(told, spec))
    assert hidden(f"{TOKEN} key-0123456789 aws-0123456789") == "*** *** aws-0123456789"


def test_a_runner_loads_no_library_it_can_do_without() -> None:
    argv = (sys.executable, "-I", "-X", "importtime", "-m", "runner")
    done = ran(argv, env={})

    lines = done.stderr.splitlines()
    loaded = {each.rpartition("|")[2].strip() for each in lines}
    assert {"runner.session.session_run", "msgspec"} <= loaded
    assert not HEAVY & loaded
    assert done.returncode == BAD_INPUT
