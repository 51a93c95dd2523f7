"""The names of brat's own files in a person's repository."""

from typing import Final

CONFIG: Final = ".brat/config.toml"
STATE_FOLDER: Final = "brat"
"""The folder of brat's state, inside the git folder."""
REGISTRATION: Final = "registration.json"
"""The file in that folder that connects the repository with its local forge."""
DAEMON_FILE: Final = "daemon.json"
"""The file in that folder that names the background bot."""
