"""A program that looks for secrets wherever an agent can look, and tells where."""

from collections.abc import Sequence

from tests.runner.job import Forge

# What it finds is told by name only: the transcript would hide the value.
_LOOKS = """
import os, subprocess, urllib.error, urllib.request
from pathlib import Path
needles = [bytes.fromhex(each) for each in {needles!r}]
found = set()
def look(where, text):
    if any(needle in text for needle in needles):
        found.add(str(where))
def read(path):
    try:
        return path.read_bytes() if path.is_file() else b""
    except OSError:
        return b""
look("environment", repr(os.environ).encode())
for each in Path("/proc").glob("[0-9]*/*"):
    if each.name in ("environ", "cmdline"):
        look(each.name + " of another", read(each))
for fd in os.listdir("/proc/self/fd"):
    if int(fd) > 2 and os.path.exists("/proc/self/fd/" + fd):
        found.add("descriptor " + fd)
listing = ["git", "config", "--list", "--show-origin"]
look("git's configuration", subprocess.run(listing, capture_output=True).stdout)
for root in {roots!r}:
    for path in Path(root).rglob("*"):
        look(path, read(path))
url = os.environ.get("ANTHROPIC_BASE_URL", "")
for path in ("/", "/v1/models", "/v1/messages") if url else ():
    try:
        asked = urllib.request.Request(url + path, headers={{"x-api-key": "guess"}})
        with urllib.request.urlopen(asked) as answer:
            look(path, repr(answer.headers.items()).encode() + answer.read())
    except urllib.error.HTTPError as error:
        look(path, error.read())
Path("found.txt").write_text(chr(10).join(sorted(found)))
print("environment:", *sorted(os.environ))
"""


def baited(forge: Forge, secrets: Sequence[str]) -> tuple[str, str]:
    """Lay out the first secret where agents may look; return the program, and where."""
    roots = [str(forge.root / name) for name in ("temp", "work", "result", "open")]
    bait = forge.root / "open/bait"
    bait.parent.mkdir()
    bait.write_text(secrets[0])
    needles = [each.encode().hex() for each in secrets]
    return _LOOKS.format(needles=needles, roots=roots), str(bait)
