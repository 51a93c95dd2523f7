"""A whole session with its proxy: no key in the agent's reach, no process left."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from convoy.model.records import EngineSpec, Limits
from tests.attacks.environments import PREFIXES
from tests.runner.job import Forge, Left, git
from tests.runner.proxy.vendor import KEY
from tests.world.staying import until
from tests.world.vendor.script import Case, Script
from tests.world.vendor.scripted import scripted


def run(forge: Forge, text: str, limits: Limits | None = None, **env: str) -> Left:
    spec = EngineSpec(type="claude-code", timeout_s=600)
    started = forge.started(engine=spec, limits=limits or Limits())
    path = forge.program(text, "claude")
    return forge.run(started, PATH=path, **{"ANTHROPIC_API_KEY": KEY, **env})


def run_unboxed(forge: Forge, text: str) -> Left:
    spec = EngineSpec(type="claude-code", timeout_s=600)
    log = forge.hand_off(forge.started(engine=spec, box="off"))
    path = forge.program(text, "claude")
    env = forge.environment(log, PATH=path, ANTHROPIC_API_KEY=KEY)
    return forge.run_on(PREFIXES["no namespaces"], env)


FINDING = """\
#!/bin/sh
for each in /proc/[0-9]*; do
  grep -q runner.proxy "$each/cmdline" && grep -q "^PPid:.$PPID$" "$each/status" &&
    proxy="${each#/proc/}"
done 2> /dev/null
"""


@pytest.mark.needs("unshare")
def test_an_agent_that_ends_its_proxy_ends_its_session(forge: Forge) -> None:
    left = run_unboxed(forge, f"{FINDING}kill -9 $proxy; sleep 600\n")

    assert (left.result["outcome"], left.result["conclusion"]) == ("failed", "failure")
    why = "The engine failed: the proxy that holds its key has stopped."
    assert left.result["why"] == why


@pytest.mark.needs("unshare")
def test_nothing_is_left_of_a_proxy_when_its_witness_is_killed(forge: Forge) -> None:
    noted = forge.root / "pid"
    left = run_unboxed(forge, f"{FINDING}echo $proxy > {noted}; kill -9 $PPID\n")

    assert left.status == 137
    proxy = int(noted.read_text())
    until(lambda: not psutil.pid_exists(proxy))


CALLS = """\
#!{python} -I
import os, time, urllib.error, urllib.request
for _ in range({calls}):
    asked = urllib.request.Request(
        os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
        headers={{"x-api-key": os.environ["ANTHROPIC_API_KEY"]}},
        data=b'{{"model": "m", "max_tokens": 9, "messages": []}}',
    )
    open("work.txt", "a").write("1")
    try:
        urllib.request.urlopen(asked).read()
    except urllib.error.HTTPError:
        time.sleep(600)
print({said!r})
"""


@pytest.fixture
def vendor(tmp_path: Path) -> Iterator[str]:
    script = Script(cases=(Case(when=(), closing="Well."),))
    with scripted(tmp_path, script) as served:
        yield served.url


def test_the_proxys_counts_stand_in_for_an_engine_that_tells_none(
    forge: Forge, vendor: str
) -> None:
    result = {"type": "result", "subtype": "success", "result": "BRAT: done"}
    text = CALLS.format(python=sys.executable, calls=2, said=json.dumps(result))
    left = run(forge, text, BRAT_MODEL_URL=vendor)

    assert left.result["outcome"] == "uncommitted", left.said
    (counted,) = (each for each in left.told if each["type"] == "metered")
    assert counted["calls"] == 2
    assert counted["input_tokens"] == left.result["usage"]["input_tokens"] > 0
    assert counted["output_tokens"] == left.result["usage"]["output_tokens"] > 0


def test_a_session_ends_when_its_budget_is_spent_and_its_work_is_kept(
    forge: Forge, vendor: str
) -> None:
    text = CALLS.format(python=sys.executable, calls=9, said="")
    left = run(forge, text, Limits(model_calls=3), BRAT_MODEL_URL=vendor)

    assert left.result["outcome"] == "budget"
    why = "The budget is spent: the session's budget of 3 model calls is used up."
    assert left.result["why"] == why
    assert git("show", "work:work.txt", cwd=forge.unpacked(left)) == "1111"
    assert left.result["usage"]["output_tokens"] > 0
