"""What the command line says is what was meant, letter by letter."""

import pytest

from brat.terminal.console import say


def test_a_path_between_colons_is_no_picture(
    capsys: pytest.CaptureFixture[str],
) -> None:
    say("src/:smile:/a.py [bold]")

    assert capsys.readouterr().err == "src/:smile:/a.py [bold]\n"
