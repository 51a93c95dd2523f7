"""A Python with a package installed that a page of the documents shows."""

import re
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[2]


def blocks(page: str) -> dict[str, str]:
    """Return the files of a page's plugin, by the name they begin with."""
    text = (ROOT / page).read_text("utf-8")
    plugin = text.partition("<!-- plugin")[2].partition("<!-- end of plugin -->")[0]
    return dict(re.findall(r"```\w+\n# (\S+)\n(.*?)```", plugin, re.DOTALL))


def length(page: str) -> int:
    """Return how many lines the plugin has, with those that name its files."""
    return sum(text.strip().count("\n") + 2 for text in blocks(page).values())


def installed(folder: Path, page: str, **more: str) -> Path:
    """Return a Python that has this one's packages and the page's.

    Args:
        folder: where it is put.
        page: such as `docs/engines.md`.
        more: text that is added to a module, by its name.
    """
    files = blocks(page)
    project = tomllib.loads(files.pop("pyproject.toml"))["project"]
    python = python_with(
        folder,
        {"name": project["name"], "version": project["version"]},
        project["entry-points"],
    )
    (site,) = python.parents[1].glob("lib/*/site-packages")
    for name, text in files.items():
        (site / name).write_text(text + more.get(Path(name).stem, ""))
    return python


def python_with(
    folder: Path, named: Mapping[str, str], points: Mapping[str, Mapping[str, str]]
) -> Path:
    """Return a Python that has this one's packages, these tests, and one package more.

    Args:
        folder: where it is put.
        named: the package's `name` and `version`.
        points: its entry points, by group and name.
    """
    home = folder / "venv"
    command = [sys.executable, "-m", "venv", "--without-pip", str(home)]
    subprocess.run(command, check=True)
    (site,) = (home / "lib").glob("*/site-packages")
    ours = sorted(each for each in sys.path if each.endswith("site-packages"))
    paths = "".join(f"import site; site.addsitedir({each!r})\n" for each in ours)
    (site / "ours.pth").write_text(f"{paths}{ROOT}\n")
    facts = site / f"{named['name'].replace('-', '_')}-{named['version']}.dist-info"
    facts.mkdir()
    text = f"Name: {named['name']}\nVersion: {named['version']}\n"
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\n{text}")
    groups = (
        f"[{group}]\n" + "".join(f"{n} = {value}\n" for n, value in each.items())
        for group, each in points.items()
    )
    (facts / "entry_points.txt").write_text("".join(groups))
    return home / "bin/python"
