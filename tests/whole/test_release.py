"""What is released: equal builds of one commit, and an sdist that installs offline."""

import os
import subprocess
import sys
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import pytest
from ruamel.yaml import YAML

from bot import VERSION
from tests.runner.job import CLEAN, Forge, git
from tests.world.program import ran
from tests.world.terminal import BRAT

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
LOCKS = ("requirements.lock", "requirements-build.lock")
NOWHERE = "http://127.0.0.1:9"
NO_ENV: Mapping[str, str] = {}
OFFLINE = {"PIP_NO_INDEX": "1", "http_proxy": NOWHERE, "https_proxy": NOWHERE}


def run(*argv: object, cwd: Path = ROOT, env: Mapping[str, str] = NO_ENV) -> str:
    done = ran([str(each) for each in argv], cwd=cwd, env={**os.environ, **env})
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    folder = tmp_path / "clone"
    run("git", "clone", "--quiet", ROOT, folder)
    return folder


def built(clone: Path, folder: Path) -> str:
    run(clone / ".ci/dist", BIN, folder)  # fails where its own two builds differ
    return (folder / "SHA256SUMS").read_text()


@pytest.mark.timeout(300)
def test_a_release_is_built_alike_and_installs_offline(
    clone: Path, tmp_path: Path
) -> None:
    first = built(clone, tmp_path / "first")
    (clone / "brat/not_committed.py").write_text("STOLEN = True\n")
    (clone / "brat/__main__.py").write_text("")

    assert built(clone, tmp_path / "second") == first
    assert sorted(line.split()[1] for line in first.splitlines()) == [
        f"brat_bot-{VERSION}-py3-none-any.whl",
        f"brat_bot-{VERSION}.tar.gz",
    ]

    with tarfile.open(tmp_path / f"first/brat_bot-{VERSION}.tar.gz") as archive:
        archive.extractall(tmp_path, filter="data")
    source, wheels = tmp_path / f"brat_bot-{VERSION}", tmp_path / "wheels"
    locked = [word for lock in LOCKS for word in ("-r", source / lock)]
    only = ("--quiet", "--require-hashes", "--only-binary", ":all:")
    run(BIN / "python", "-m", "pip", "download", *only, *locked, "-d", wheels)
    python = tmp_path / "venv/bin/python"
    run(sys.executable, "-m", "venv", tmp_path / "venv")
    pip = (python, "-m", "pip", "install", "--quiet", "--find-links", wheels)
    run(*pip, "--require-hashes", *locked, env=OFFLINE)
    run(*pip, "--no-deps", "--no-build-isolation", source, env=OFFLINE)

    away = {
        **OFFLINE,
        "HOME": str(tmp_path),
        "PATH": f"{python.parent}{os.pathsep}{os.environ['PATH']}",
    }
    brat = python.with_name("brat")
    assert run(brat, "--version", cwd=tmp_path, env=away) == f"brat {VERSION}\n"
    run(brat, "demo", "--dir", tmp_path / "demo", cwd=tmp_path, env=away)


# --- the wheel ------------------------------------------------------------------------


PACKAGES = ("grite", "convoy", "bot", "runner", "brat")


@pytest.mark.layer("landing")
def test_a_wheel_holds_every_file_of_the_packages(tmp_path: Path) -> None:
    run(str(BIN / "uv"), "build", "--quiet", "--wheel", "--out-dir", str(tmp_path))
    kept = run("git", "ls-files", *PACKAGES).split()
    workflows = run("git", "ls-files", "workflows").split()
    demo = run("git", "ls-files", "examples/demo-project").split()

    (wheel,) = tmp_path.glob("*.whl")
    with ZipFile(wheel) as held:
        names = set(held.namelist())

    assert {*kept} - names == set()
    assert {f"brat/{name}" for name in workflows} - names == set()
    assert {name.replace("examples", "brat", 1) for name in demo} - names == set()
    assert wheel.name == f"brat_bot-{VERSION}-py3-none-any.whl"


# --- whatever lies in the folder it is started in, none of it is imported -------------


ROOMS = ("brat", "bot", "runner", "convoy", "grite")
LIBRARY = ("json", "asyncio", "msgspec", "httpx", "click", "encodings", "site")


@pytest.mark.layer("landing")
def test_an_entry_point_imports_nothing_from_where_it_is_started(
    tmp_path: Path,
) -> None:
    trap, sprung = tmp_path / "evil", tmp_path / "sprung"
    spring = f"open({str(sprung)!r}, 'a').write(__name__)\n"
    for room in ROOMS:
        (trap / room).mkdir(parents=True)
        for name in ("__init__.py", "__main__.py"):
            (trap / room / name).write_text(spring)
    for name in (*LIBRARY, "sitecustomize", "usercustomize"):
        (trap / f"{name}.py").write_text(spring)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    python = (sys.executable, "-I", "-m")
    for argv, word in (
        ((*python, "runner"), "BRAT_SESSION"),
        ((*python, "bot", "none.json"), "none.json"),
        ((*python, "brat.forge", "--help"), "--feed"),
        ((*python, "brat", "--help"), "mayor"),
        ((BRAT, "--help"), "mayor"),
        ((BRAT, "status"), "is not in a git repository"),
    ):
        done = ran(argv, cwd=trap, env=env)

        assert word in done.stdout + done.stderr
        assert not sprung.exists(), argv

    ran((sys.executable, "-m", "runner"), cwd=trap, env=env)
    assert sprung.exists(), "the trap would spring"


# --- deploy/fleet is what Kubernetes takes, and says what it must of rights -----------


FLEET = Path(__file__).parents[2] / "deploy/fleet"
KUBERNETES = "1.37"


def read(name: str) -> dict[str, Any]:
    return dict(YAML(typ="safe").load((FLEET / name).read_text()))


def valid(manifest: dict[str, Any]) -> dict[str, Any]:
    kubernetes_validate.validate(manifest, KUBERNETES, strict=True)
    return manifest


def pod(template: dict[str, Any]) -> dict[str, Any]:
    named = {"name": "pod", **template["metadata"]}
    whole = {"apiVersion": "v1", "kind": "Pod", **template, "metadata": named}
    return dict(valid(whole)["spec"])


@pytest.mark.layer("landing")
def test_the_egress_rules_are_a_network_policy() -> None:
    policy = valid(read("egress.yaml"))
    (_, outside) = policy["spec"]["egress"]
    (block,) = (each["ipBlock"] for each in outside["to"])
    assert "169.254.0.0/16" in block["except"]  # the cloud's metadata
    assert policy["spec"]["ingress"] == []


@pytest.mark.layer("landing")
def test_the_pods_of_runners_and_agents_have_limits_and_no_rights() -> None:
    runners = pod(read("runner-scale-set.yaml")["template"])
    config = valid(read("job-pod.yaml"))
    agents = pod(YAML(typ="safe").load(config["data"]["content"]))

    (runner,) = runners["containers"]
    told = {each["name"]: each["value"] for each in runner["env"]}
    (mount,) = runner["volumeMounts"]
    assert told == {
        "ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER": "true",
        "ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE": f"{mount['mountPath']}/content",
    }
    assert runners["securityContext"]["runAsUser"] == 1001
    assert runner["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    (volume,) = runners["volumes"]
    assert volume["configMap"]["name"] == config["metadata"]["name"]
    (job,) = agents["containers"]
    assert agents["automountServiceAccountToken"] is False
    assert agents["securityContext"]["runAsNonRoot"] is True
    assert job["name"] == "$job"
    assert job["securityContext"]["allowPrivilegeEscalation"] is False
    for each in (runner, job):
        assert set(each["resources"]) == {"requests", "limits"}


@pytest.mark.layer("landing")
def test_each_node_mirrors_the_branches_where_jobs_look(tmp_path: Path) -> None:
    mirrors = valid(read("objects.yaml"))["spec"]["template"]["spec"]
    (mirror,) = mirrors["containers"]
    job = YAML(typ="safe").load(read("job-pod.yaml")["data"]["content"])["spec"]

    assert mirrors["volumes"] == job["volumes"]
    (place,) = job["containers"][0]["volumeMounts"]
    assert place == {**mirror["volumeMounts"][0], "readOnly": True}
    assert job["containers"][0]["env"] == [
        {"name": "BRAT_OBJECTS", "value": place["mountPath"]}
    ]

    (script,) = mirror["args"]  # one round of it, here
    script = script.replace(place["mountPath"], str(tmp_path)).replace(
        "sleep 60", "exit"
    )
    forge = Forge(tmp_path / "forge")
    told = {"SERVER": f"file://{forge.root}", "REPOSITORY": "octo/hello"}
    subprocess.run([*mirror["command"], script], env=CLEAN | told, check=True)
    refs = git("for-each-ref", cwd=tmp_path / "octo/hello.git")
    assert refs == f"{forge.base} commit\trefs/heads/main"


@pytest.mark.layer("landing")
def test_the_bots_container_may_write_to_its_folder_only() -> None:
    bot = read("compose.yaml")["services"]["bot"]

    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    assert [each for each in bot["volumes"] if not each.endswith(":ro")] == [
        "state:/var/lib/brat"
    ]
    assert all(each.startswith("127.0.0.1:") for each in bot["ports"])
