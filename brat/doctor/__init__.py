"""`brat doctor`: report what is wrong here and how to repair it."""

from typing import Final

from bot.serving.examination import Finding
from brat.terminal.console import say

_MARKS: Final = {"ok": "ok   ", "note": "note ", "fault": "FAULT"}


def say_finding(finding: Finding) -> Finding:
    mend = f" -> {finding.mend}" if finding.mend else ""
    say(f"  {_MARKS[finding.grade]} {finding.said}{mend}")
    return finding
