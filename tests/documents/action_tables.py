"""The tables of docs/actions.md, from action.yml, and of the App's permissions."""

from pathlib import Path
from typing import Any, Final

from ruamel.yaml import YAML

from bot.forge.app_auth import RIGHTS

_ACTION: Final = Path(__file__).parents[2] / "action.yml"


def _rows(part: str) -> dict[str, dict[str, Any]]:
    return dict(YAML(typ="safe").load(_ACTION.read_text("utf-8"))[part])


def inputs() -> str:
    rows = (
        f"| `{name}` | {each['description']} | {_default(each)} |\n"
        for name, each in _rows("inputs").items()
    )
    return "| input | meaning | default |\n|---|---|---|\n" + "".join(rows)


def permissions() -> str:
    rows = (f"| `{name}: {level}` | {what} |\n" for name, level, what in RIGHTS)
    return "| permission | for |\n|---|---|\n" + "".join(rows)


def outputs() -> str:
    rows = (
        f"| `{name}` | {each['description']} |\n"
        for name, each in _rows("outputs").items()
    )
    return "| output | meaning |\n|---|---|\n" + "".join(rows)


def _default(spec: dict[str, Any]) -> str:
    if spec.get("required"):
        return "required"
    return f"`{spec['default']}`" if spec.get("default") else ""
