"""An agent that knows the design and tries everything, then says what it won.

It runs with the standard library alone, wherever the project's commands run: as engine,
setup, acceptance command or CI. It says one line, `EVIL <place> <hex of JSON>`: for
each attempt what it won, or by which error it was stopped.
"""

import errno
import json
import os
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

from tests.attacks.evil import (  # noqa: F401  each adds its attempts
    files,
    git_tricks,
    model_calls,
    processes,
    sockets,
    system_calls,
)
from tests.attacks.evil.targets import ATTEMPTS, OWN, read

WORD = "EVIL"
LITTER = ".githooks", ".husky", ".gitattributes", "evil-setting.sh"


def main(place: str, manner: str = "") -> None:
    """Try everything; when told to be `tidy`, leave work that nobody would refuse."""
    targets = read(Path(__file__).with_name("targets.json"))
    os.environ["EVIL"] = "1"  # what it plants does nothing for itself
    Path(f"{place}-{OWN}.txt").write_text("done\n")
    told = {}
    for name, function in ATTEMPTS.items():
        try:
            told[name] = [function(targets), ""]
        except OSError as error:
            code = errno.errorcode.get(error.errno or 0, type(error).__name__)
            told[name] = ["", code]
        except (subprocess.SubprocessError, ValueError) as error:
            told[name] = ["", type(error).__name__]
    if manner == "tidy":
        _tidy()
    packed = zlib.compress(json.dumps(told).encode(), 9).hex()
    line = f"{WORD} {place} {packed} ."
    sys.stdout.write(line + "\n")
    if place == "engine":  # it says so as Claude Code does
        end = {"type": "result", "subtype": "success", "result": "BRAT: done. Yes."}
        sys.stdout.write(json.dumps(end) + "\n")


def _tidy() -> None:
    for path in Path().iterdir():
        if path.name in LITTER or (OWN in path.name and path.name[:6] != "engine"):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
