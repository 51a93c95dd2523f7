"""Which brat this is, as the log, the door and `/brat ping` say it."""

from typing import Final

VERSION: Final = "0.1.0"
