"""What the Dockerfile says of each image; `make deep` builds them and looks inside."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "Dockerfile"
STAGE = re.compile(r"^FROM (\S+) AS (\S+)$", re.MULTILINE)


def test_an_image_says_what_it_is_and_runs_as_nobody_special() -> None:
    text = DOCKERFILE.read_text("utf-8")
    starts = [*STAGE.finditer(text)]
    ends = [*(each.start() for each in starts[1:]), len(text)]
    stages = {
        each[2]: (each[1], text[each.end() : end])
        for each, end in zip(starts, ends, strict=True)
    }
    images = [name for name in stages if name == "bot" or name.startswith("runner")]

    assert len(images) >= 9
    for image in images:
        line = [image]
        while line[-1] in stages:
            line.append(stages[line[-1]][0])
        said = "".join(stages[name][1] for name in reversed(line[:-1]))
        assert re.findall(r"^USER (.+)$", said, re.MULTILINE)[-1] == "1001", image
        runs = "tini" if image == "bot" else "runner.inputs.container_entry"
        assert runs in said.rpartition("\nENTRYPOINT ")[2].partition("\n")[0], image
        assert "org.opencontainers.image.licenses" in said, image
        assert "org.opencontainers.image.revision" in said, image
    named = re.findall(r"^ENV (\w+)", text, re.MULTILINE)
    assert not [env for env in named if "KEY" in env or "TOKEN" in env]


def test_the_build_is_shown_all_that_goes_into_a_wheel() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    wheel = wheel["build"]["targets"]["wheel"]
    shown = (ROOT / ".dockerignore").read_text().splitlines()

    for name in (*wheel["packages"], *wheel["force-include"]):
        assert f"!{name}" in shown, name
