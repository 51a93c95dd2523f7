"""Changes as a table for other programs: CSV, a row for each that has ended. Pure."""

import csv
import io
from collections.abc import Sequence
from typing import Any


def csv_text(rows: Sequence[dict[str, Any]]) -> str:
    """Return the rows of `analytics.rows` as CSV (RFC 4180, lines end with LF).

    No cell is a stranger's text: names of convoys and engines are words of brat's own.
    """
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]) if rows else (), lineterminator="\n")
    table.writeheader()
    table.writerows(rows)
    return text.getvalue()
