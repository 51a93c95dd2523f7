"""The version of brat that the log, the door and `/brat ping` report."""

from typing import Final

VERSION: Final = "0.1.0"
