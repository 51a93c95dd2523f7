"""Start a program in a box of its own: root folder, users, processes, queues, network.

`FD WAY USER PLACES... -- PROGRAM ARGUMENT...`, run by `runner.box.processes`: it
stands between the witness and each program of an agent, so it loads little. Inside, the
program can neither see, read nor signal another process, sees no file but those of the
PLACES (`runner.box.root_folder`), and cannot call what only administrators and
debuggers need. When the first process inside ends, the kernel ends all others. FD is
told which walls stand, or why one fails: then the program is not started.

WAY is `FD,PORT,PORT...`, for a network of its own that has only loopback: what listens
at these PORTs goes through that FD to the proxy. Empty: the machine's network. USER is
what the program becomes, `NUMBER:HOME`; empty: it stays the user it is. Where the
machine refuses this, `runner.box.unprivileged_box` tries it without them.

Without the first FD the program gets no box, but a network and users of its own, and
starts even where it gets none, of which the proxy is told. With users of its own it can
enter no other network, nor read or trace a process outside, even where both are root.
https://man7.org/linux/man-pages/man7/pid_namespaces.7.html
https://man7.org/linux/man-pages/man7/user_namespaces.7.html
https://man7.org/linux/man-pages/man7/network_namespaces.7.html
https://man7.org/linux/man-pages/man7/netdevice.7.html
https://man7.org/linux/man-pages/man2/pr_set_no_new_privs.2const.html
"""

import fcntl
import os
import signal
import socket
import struct
import warnings  # noqa: F401  os.execvp imports it, when it may be out of reach
from collections.abc import Sequence

from runner.box import kernel, landlock, processes, seccomp
from runner.box.kernel import CLOSED, Box, listening, send_sockets
from runner.box.root_folder import WRITABLE, build

_USERS_AND_MOUNTS = 0x10000000 | 0x00020000
_NAMESPACES = _USERS_AND_MOUNTS | 0x08000000 | 0x20000000
"""The flags for new namespaces of these, of queues and of processes."""
_NETWORK = 0x40000000
_SYS_ADMIN = 21
_GET_FLAGS, _SET_FLAGS, _UP = 0x8913, 0x8914, 0x1
_NONE = "no namespaces: "


def main(argv: Sequence[str]) -> int:
    """Become the program in a box, one without namespaces if they are refused."""
    told, way, user, *rest = argv
    mark = rest.index("--")
    kernel.prctl(kernel.DIE_WITH_PARENT, signal.SIGKILL)
    exits = [int(each) for each in way.split(",") if each]
    places = [*zip(*[iter(rest[:mark])] * 3, strict=True)]
    program = rest[mark + 1 :]
    box = Box(places, exits, user.split(":", 1) if user else ())
    if not told:
        why = _boxed(box, None, program)
        send_sockets(exits[0], why.removeprefix(_NONE).encode())
        return kernel.become_program(program)
    number = int(told)
    os.set_inheritable(number, False)  # noqa: FBT003  its form
    why = _boxed(box, number, program)
    from runner.box.unprivileged_box import run  # most machines do not need it

    return run(box, number, program, why)


def _boxed(box: Box, told: int | None, program: list[str]) -> str:
    """Run the program in a box and end as it ends; if a box fails, return why."""
    calls = seccomp.CALLS.get(os.uname().machine)
    if calls is None:
        return f"{_NONE}not supported on this kind of machine"
    go, going = os.pipe()
    heard, telling = os.pipe()
    try:
        others = _NAMESPACES if told is not None else _USERS_AND_MOUNTS
        flags = others | (_NETWORK if box.exits else 0) | signal.SIGCHLD
        child = kernel.checked(kernel.libc.syscall(calls["clone"], flags, 0, 0, 0, 0))
    except OSError as error:
        return f"{_NONE}{error.strerror}"
    if child == 0:
        os.close(going)
        os.close(heard)
        os._exit(_first(go, telling, box, told, program))
    os.close(telling)
    try:
        # All users inside are themselves outside for root, else only our own is: so
        # root can become another user, as package managers do, and use their files.
        is_root = os.getuid() == 0
        told_of = {} if is_root else {"setgroups": "deny"}
        for name, own in (("uid_map", os.getuid()), ("gid_map", os.getgid())):
            told_of[name] = f"{own} {own} 1"
            if is_root:
                with open(f"/proc/self/{name}", encoding="ascii") as file:  # noqa: PTH123  pathlib takes 5 ms
                    known = [line.split() for line in file]
                told_of[name] = "\n".join(f"{at} {at} {n}" for at, _, n in known)
        for name, text in told_of.items():  # each at once, else the kernel refuses it
            with open(f"/proc/{child}/{name}", "w", encoding="utf-8") as file:  # noqa: PTH123  as above
                file.write(text)
        os.write(going, b"!")
    except OSError as error:
        os.close(going)
        _await(child)
        return f"no user namespace: {error.strerror}"
    said = os.read(heard, 1)  # and no more: a program may have ended by now
    if said != b"!":
        said += os.read(heard, 1000)
        _await(child)
        return said.decode(errors="replace") or "the sandbox ended"
    kernel.handle(signal.SIG_IGN, *kernel.ENDING)
    _let_go(*filter(None, (told, *box.exits[:1])))
    ended = os.read(heard, 4)
    _, status = os.waitpid(child, 0)
    os._exit(kernel.end_like(int.from_bytes(ended, "little") if ended else status))


def _await(child: int) -> None:
    """Wait for a first process that failed; one that was killed is our end, too.

    Nothing is wrong with the machine then, so no lesser box is tried.
    """
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        os._exit(kernel.end_like(status))


def _first(
    go: int, telling: int, box: Box, told: int | None, program: list[str]
) -> int:
    """Be the box's first process: set the box up, start the program, reap children.

    `told` is told which walls stand; None: the program is only to have a network.
    """
    kernel.prctl(kernel.DIE_WITH_PARENT, signal.SIGKILL)
    kernel.handle(signal.SIG_IGN, *kernel.ENDING)
    if not os.read(go, 1):
        return 1
    if told is None:
        # Root needs it to enter other namespaces, and to mount something.
        kernel.prctl(kernel.DROP_RIGHT, _SYS_ADMIN)
        try:
            _hand_over(*box.exits)
        except OSError as error:
            os.write(telling, str(error.strerror).encode())
            return 1
        os.write(telling, b"!")
        return kernel.become_program(program)
    kernel.prctl(kernel.DUMPABLE, 0)  # the agent sees this process
    here = os.getcwd()  # noqa: PTH109  pathlib takes 5 ms
    try:
        build(box.places, box.user)
        processes.give_up_rights()
        kernel.prctl(kernel.NO_NEW_RIGHTS, 1)
        if box.exits:
            _hand_over(*box.exits)
    except OSError as error:
        os.write(telling, f"{error.filename or 'it'}: {error.strerror}".encode())
        return 1
    ready, readying = os.pipe()
    agent = os.fork()
    if agent == 0:
        os.close(ready)
        os._exit(_as_agent(box, here, program, readying))
    os.close(readying)
    if why := os.read(ready, 1000):
        os.write(telling, why)
        return 1
    network = "network=namespaces " if box.exits else ""
    user = "uid" if box.user else "namespaces"
    walls = f"files=namespaces processes=namespaces {network}user={user}"
    os.write(told, f"{walls} syscalls=seccomp".encode())
    os.write(telling, b"!")
    _let_go(told)
    while True:
        pid, status = os.wait()
        if pid == agent:
            os.write(telling, status.to_bytes(4, "little"))
            return 0  # and the kernel ends every other process here


def _hand_over(number: int, *ports: int) -> None:
    """Raise loopback, and send the proxy sockets there through a descriptor."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        asked = struct.pack("16sH14s", b"lo", 0, b"")
        said = fcntl.ioctl(control, _GET_FLAGS, asked)
        flags = struct.unpack("16sH14s", said)[1]
        up = struct.pack("16sH14s", b"lo", flags | _UP, b"")
        fcntl.ioctl(control, _SET_FLAGS, up)
    send_sockets(number, CLOSED, [listening(port)[0] for port in ports])


def _as_agent(box: Box, here: str, program: list[str], readying: int) -> int:
    """Become the agent's user and then the program; the pipe is told what fails."""
    os.setsid()
    try:
        kernel.become_user(box.user)
        os.chdir(here if os.path.isdir(here) else "/")  # noqa: PTH112  as above
        if not landlock.refusal():  # it closes a second time what the mounts close
            written = (target for kind, _, target in box.places if kind == WRITABLE)
            landlock.restrict(("/",), (*written, "/dev", "/proc"), network=True)
        seccomp.restrict()
    except OSError as error:
        os.write(readying, f"cannot limit program rights: {error.strerror}".encode())
        return 1
    os.close(readying)
    if any(target == "/tmp" for *_, target in box.places):  # noqa: S108  the session's own
        # By its own, maybe long path, a socket in it could not be named: unix(7).
        os.environ["TMPDIR"] = "/tmp"  # noqa: S108, TID251  as above; nothing is asked
    return kernel.become_program(program)


def _let_go(*told: int) -> None:
    """Close our ends of the program's input and output, and of the reports."""
    for each in {0, 1, *told}:
        os.close(each)
