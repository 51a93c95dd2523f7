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


def test_the_egress_rules_are_a_network_policy() -> None:
    policy = read("egress.yaml")

    kubernetes_validate.validate(policy, KUBERNETES, strict=True)
    (_, outside) = policy["spec"]["egress"]
    (block,) = (each["ipBlock"] for each in outside["to"])
    assert "169.254.0.0/16" in block["except"]  # the cloud's metadata
    assert policy["spec"]["ingress"] == []


def test_the_runners_template_is_a_pod_that_needs_no_rights() -> None:
    template = read("runner-scale-set.yaml")["template"]
    pod = {"apiVersion": "v1", "kind": "Pod", **template}
    pod["metadata"] = {"name": "runner", **template["metadata"]}

    kubernetes_validate.validate(pod, KUBERNETES, strict=True)
    (runner,) = template["spec"]["containers"]
    told = {each["name"]: each["value"] for each in runner["env"]}
    (mount,) = runner["volumeMounts"]
    assert told == {
        "ACTIONS_RUNNER_REQUIRE_JOB_CONTAINER": "true",
        "ACTIONS_RUNNER_CONTAINER_HOOK_TEMPLATE": f"{mount['mountPath']}/content",
    }
    assert template["spec"]["securityContext"]["runAsUser"] == 1001
    assert runner["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert set(runner["resources"]) == {"requests", "limits"}


def test_the_pod_an_agent_works_in_has_limits_and_no_rights() -> None:
    config = read("job-pod.yaml")
    pod = dict(YAML(typ="safe").load(config["data"]["content"]))
    pod |= {"apiVersion": "v1", "kind": "Pod"}
    pod["metadata"] = {"name": "job", **pod["metadata"]}
    (job,) = pod["spec"]["containers"]

    kubernetes_validate.validate(config, KUBERNETES, strict=True)
    kubernetes_validate.validate(pod, KUBERNETES, strict=True)
    (volume,) = read("runner-scale-set.yaml")["template"]["spec"]["volumes"]
    assert volume["configMap"]["name"] == config["metadata"]["name"]
    assert pod["spec"]["automountServiceAccountToken"] is False
    assert pod["spec"]["securityContext"]["runAsNonRoot"] is True
    assert job["name"] == "$job"
    assert job["securityContext"]["allowPrivilegeEscalation"] is False
    assert set(job["resources"]) == {"requests", "limits"}


def test_each_node_mirrors_the_branches_where_jobs_look(tmp_path: Path) -> None:
    mirrors = read("objects.yaml")
    pod = mirrors["spec"]["template"]["spec"]
    (mirror,) = pod["containers"]
    job = YAML(typ="safe").load(read("job-pod.yaml")["data"]["content"])["spec"]

    kubernetes_validate.validate(mirrors, KUBERNETES, strict=True)
    assert pod["volumes"] == job["volumes"]
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
