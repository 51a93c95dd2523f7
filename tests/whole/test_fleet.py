"""deploy/fleet is what Kubernetes takes, and says what it must of rights and users."""

import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it ships no types
import pytest
from ruamel.yaml import YAML

from tests.runner.job import CLEAN, Forge, git

pytestmark = pytest.mark.layer("landing")

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


def test_the_egress_rules_are_a_network_policy() -> None:
    policy = valid(read("egress.yaml"))
    (_, outside) = policy["spec"]["egress"]
    (block,) = (each["ipBlock"] for each in outside["to"])
    assert "169.254.0.0/16" in block["except"]  # the cloud's metadata
    assert policy["spec"]["ingress"] == []


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


def test_the_bots_container_may_write_to_its_folder_only() -> None:
    bot = read("compose.yaml")["services"]["bot"]

    assert bot["read_only"] is True
    assert bot["cap_drop"] == ["ALL"]
    assert [each for each in bot["volumes"] if not each.endswith(":ro")] == [
        "state:/var/lib/brat"
    ]
    assert all(each.startswith("127.0.0.1:") for each in bot["ports"])
