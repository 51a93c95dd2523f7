"""The examples: all of them are read as brat reads them."""

import re
from pathlib import Path

import pytest
from ruamel.yaml import YAML

from convoy.config import load
from convoy.patterns import built_in_pattern
from convoy.planner import tasklist

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.layer("landing")
def test_the_list_names_every_example() -> None:
    listed = re.findall(r"\]\((.+?)\)", (EXAMPLES / "README.md").read_text())
    there = {
        str(file.relative_to(EXAMPLES))
        for file in EXAMPLES.rglob("*.*")
        if "demo-project" not in file.parts
        if file.name != "README.md"
    }

    assert set(listed) == there


@pytest.mark.layer("landing")
def test_the_task_lists_become_the_tasks_they_show() -> None:
    form = YAML(typ="safe").load(EXAMPLES / "forms/convoy.yml")
    text = form["body"][0]["attributes"]["value"]
    settings = load("", source="example").settings()

    planned = tasklist.plan("Work", text, settings.engines, 20)

    assert [task.after for task in planned] == [(), (1,)]
    text = (EXAMPLES / "second-engine-reviews.toml").read_text()
    config = load(text, source="example")
    assert config.mayor.pattern == "writer-reviewer"
    assert built_in_pattern(config.mayor.pattern).all_steps
    assert {*config.settings().engines} == {"default", "reviewer"}
