import re
from pathlib import Path

from auth.roles import ROLES

API = Path(__file__).parents[1] / "docs" / "api.md"


def test_the_documents_list_every_role_in_its_order() -> None:
    rows = re.findall(r"^\| `(\w+)` \|", API.read_text(encoding="utf-8"), re.MULTILINE)

    assert tuple(rows) == ROLES
