"""Attacks on what the box once left open: the setup script, PATH, the agent's user."""

import os
from pathlib import Path

from runner.box.root_folder import HIDDEN, LINK, SEEN
from runner.box.surroundings import (
    Sight,
    arranged,
    installed,
    of_etc,
    runners_in,
    shows,
)
from tests.runner.job import TOKEN, Forge


def test_the_root_has_what_is_named(forge: Forge) -> None:
    left = forge.sh("ls -A /run /home && ls /dev && echo 1 > a")

    devices = {*("fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr")}
    devices |= {"stdin", "stdout", "tty", "urandom", "zero"}
    assert left.said.split() == ["/home:", "/run:", *sorted(devices)]


def test_of_opt_is_shown_what_programs_lead_to_but_no_runner_of_github(
    tmp_path: Path,
) -> None:
    root, programs = tmp_path / "opt", tmp_path / "bin"
    programs.mkdir()
    for name in ("browser/run", "runner/bin/run", "runner/.runner", "vault/key"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    for name in ("browser", "runner"):
        (programs / name).symlink_to(root / name / "run")
    (programs / "aside").symlink_to("browser")

    shown = installed(root, (str(programs), str(tmp_path / "none")))

    assert shown == (str(root / "browser"),)
    assert installed(tmp_path / "none", (str(programs),)) == ()
    assert [*runners_in(root)] == [root / "runner"]


def test_of_etc_is_shown_what_toolchains_need_and_no_login(tmp_path: Path) -> None:
    for name, text in (
        *(("passwd", "a"), ("ssl/certs/a.pem", "a"), ("ssl/private/a.key", "a")),
        *(("java-21-openjdk/a", "a"), ("alpine-release", "a"), ("shadow", "a")),
        *(("actions-runner/.credentials", "a"), ("environment", "TOKEN=a")),
        *(("pip.conf", "cert = /etc/a"), ("npmrc", "//a.example/:_authToken=a")),
        ("wgetrc", "http_proxy = http://ann:a@proxy.example"),
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    shown = {each for each in of_etc(tmp_path) if os.path.exists(each)}  # noqa: PTH110

    named = {each.removeprefix(f"{tmp_path}/") for each in shown}
    wanted = {*("passwd", "ssl/certs", "java-21-openjdk", "alpine-release", "pip.conf")}
    assert named == wanted


def test_of_a_home_are_shown_the_programs_of_toolchains_alone(tmp_path: Path) -> None:
    home = tmp_path / "home"
    sight = Sight(
        path=f"{home}/.dotnet:{home}/go/bin:{home}/.cargo/bin:{home}/.linuxbrew/bin",
        home=str(home),
        tools={"DOTNET_ROOT": str(home / ".dotnet")},
    )
    kept = (
        *(".dotnet/corefx/cryptography/x509stores/my/a.pfx", "go/src/own/secret.go"),
        *(".cargo/credentials.toml", ".local/share/uv/credentials/credentials.toml"),
        *(".linuxbrew/var/postgres/PG_VERSION", ".linuxbrew/etc/my.cnf"),
    )
    programs = (
        *(".dotnet/dotnet", "go/bin/a", ".cargo/bin/cargo", ".dotnet/sdk/a"),
        *(".linuxbrew/bin/a", ".linuxbrew/Cellar/a/1/lib/a"),
    )
    for name in (*kept, *programs):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text("a")

    assert [each for each in kept if shows(sight, f"{home}/{each}")] == []
    assert [each for each in programs if not shows(sight, f"{home}/{each}")] == []

    (home / "go/VERSION").write_text("go1.25")  # a Go that was unpacked there
    (home / "go/lib").mkdir()
    assert shows(sight, str(home / "go/src/fmt/print.go"))


def test_a_login_in_a_shown_folder_stays_unseen_when_it_is_saved_anew(
    tmp_path: Path, forge: Forge
) -> None:
    shown, login = tmp_path / "shown", tmp_path / "shown/a/login"
    (shown / "a").mkdir(parents=True)
    (shown / "a/program").write_text("hello")
    (shown / "a/aside").symlink_to(login)
    login.write_text(TOKEN)
    fresh = tmp_path / "fresh"
    fresh.write_text(TOKEN)
    place = (SEEN, str(shown), str(shown))

    found = arranged((place, (HIDDEN, str(login), str(login))))

    assert [(kind, at) for kind, _, at in found] == [
        (LINK, str(shown / "a/aside")),
        (SEEN, str(shown / "a/program")),
    ]
    ready = forge.root / "ready"
    os.mkfifo(ready)
    script = (
        f"cat {shown}/a/program; cat {ready}; cat {login} {shown}/a/aside; ls {shown}/a"
    )
    log = forge.hand_off(forge.started("sh", "-c", script))
    job = forge.begin(log, BRAT_SHOWN=f"{shown}:{ready}", BRAT_HIDDEN=str(login))
    with ready.open("w") as told:  # the agent runs
        fresh.rename(login)
        told.write("go on\n")
    left = forge.left_by(job)

    assert "hellogo on\n" in left.said
    assert TOKEN not in left.said
    assert left.said.split().count("login") == 0
