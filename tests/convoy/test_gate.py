import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings, strategies as st

from convoy.config import load
from convoy.gate import PathChange, is_matched, is_safe, parse_raw, printable, refusals
from convoy.model.records import Gate, Limits
from grite.git import run
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

GATE, LIMITS = Gate(), Limits()


def git(*args: str, cwd: Path, stdin: bytes | None = None) -> bytes:
    return run(args, cwd=cwd, stdin=stdin, check=False).stdout


def edited(path: str, mode: str = "100644") -> PathChange:
    return PathChange(path, "100644", mode)


def why(*changes: PathChange, gate: Gate = GATE, size: int = 1) -> tuple[str, ...]:
    return refusals(changes, size, gate, LIMITS)


def test_an_ordinary_patch_is_let_through_and_one_too_large_is_told_twice() -> None:
    unusual = ("a b", "größe/ß.txt", "…", ".gitignore", "x.git/y")
    new = PathChange("b.sh", "000000", "100755")
    assert why(edited("src/a.py"), new, *map(edited, unusual)) == ()
    assert all(map(is_safe, unusual))

    changes = [edited(f"{n}.txt") for n in range(301)]
    assert why(*changes, size=2_000_001) == (
        "The patch changes 301 files; the limit is 300.",
        "The patch is 2000001 bytes; the limit is 2000000.",
    )
    assert why(*changes[1:], size=2_000_000) == ()


@looped(
    *(".github/workflows/ci.yml", ".GitHub/x", ".brat/agent.sh", ".gitmodules"),
    *("CODEOWNERS", "docs/CODEOWNERS"),
    *(".github\u200c/x", ".brat./config.toml", "CLAUDE.md ", ".brat\\config.toml"),
)
def test_a_protected_path_is_refused_even_when_it_is_deleted(path: str) -> None:
    gone = PathChange(path, "100644", "000000")

    assert why(gone) == (f"The patch changes a protected path: {path}.",)


def test_only_allowed_paths_may_be_touched_when_there_are_any() -> None:
    gate = Gate(allowed=("src/", "*.md"))
    changes = [edited(f"{n}") for n in range(5)]

    assert why(edited("src/a/b.py"), edited("docs/x.md"), gate=gate) == ()
    assert why(*changes, gate=gate) == (
        "The patch changes a path that its task does not allow: 0, 1, 2 and 2 more.",
    )


@looped(
    ("docs/v", "manual/v", "1", True),
    ("docs/v", "docs/w", "1", True),
    ("docs/v", "docs/old/v", "1", True),
    ("docs/v", "v", "1", False),
    ("docs/v", "manual/v", "2", False),
)
def test_links_and_submodules_may_go_but_not_come_and_a_link_may_move(
    *, old: str, new: str, target: str, may: bool
) -> None:
    """Neither up nor with another target."""
    gone = PathChange(old, "120000", "000000", "1")
    came = PathChange(new, "000000", "120000", "", target)

    said = f"The patch adds or changes a symbolic link: {new}."
    assert why(gone, came) == (() if may else (said,))
    assert why(gone, PathChange("b", "160000", "000000")) == ()
    submodule = "The patch adds or changes a submodule: b."
    assert why(came, PathChange("b", "000000", "160000")) == (said, submodule)
    assert why(PathChange(old, "120000", "120000", "1"))


@looped(
    *("a/.git/config", "a/.GIT/x", ".git", "x/git~1/y", ".git. /x", ".git::$DATA/x"),
    *("../a", "a/../b", "a\\..\\b", "/a", "a//b", "./a", ".g\u200cit/x"),
    *("a\nb", "a\x1b[31m", "a\u202eb", "\udcff", "a/" * 100 + "a"),
)
def test_a_path_that_some_machine_would_write_elsewhere_is_refused(path: str) -> None:
    assert not is_safe(path)
    reasons = why(edited(path), gate=Gate(protected=()))
    assert reasons == (f"The patch has an unsafe path: {printable(path)}.",)
    assert printable(reasons[0]) == reasons[0]


def test_a_path_of_many_folders_is_looked_at_in_one_pass() -> None:
    assert growth(lambda folders: why(edited("a/" * folders + "a")), 500) < LINEAR


def test_what_git_says_is_read_back_whole(tmp_path: Path) -> None:
    def tree() -> str:
        git("add", "-A", cwd=tmp_path)
        return git("write-tree", cwd=tmp_path).decode().strip()

    git("init", "-q", "-b", "main", cwd=tmp_path)
    for name in ("old", "same"):
        (tmp_path / name).write_text(name)
    before = tree()
    (tmp_path / "old").unlink()
    (tmp_path / "same").chmod(0o755)
    for odd in ("two\nlines\tä", os.fsdecode(b"\xff")):
        (tmp_path / odd).write_text("z")
    (tmp_path / "link").symlink_to("/etc/passwd")

    args = ("diff-tree", "-r", "--raw", "-z", "--no-renames", before, tree())
    raw = git(*args, cwd=tmp_path)

    target = git("hash-object", "--stdin", cwd=tmp_path, stdin=b"/etc/passwd")
    assert {(c.path, c.mode_before, c.mode_after, c.link) for c in parse_raw(raw)} == {
        ("old", "100644", "000000", ""),
        ("same", "100644", "100755", ""),
        ("two\nlines\tä", "000000", "100644", ""),
        ("link", "000000", "120000", target.decode().strip()),
        ("\udcff", "000000", "100644", ""),
    }
    assert parse_raw(b"") == ()


@given(st.binary())
def test_any_bytes_are_a_list_or_a_value_error(raw: bytes) -> None:
    try:
        parse_raw(raw)
    except ValueError as error:
        assert str(error)  # noqa: PT017  both ends are right
    for unsaid in (b"x", b":100644\0a\0", b"\0", b":x\0a\0b\0"):
        with pytest.raises(ValueError, match="changed file"):
            parse_raw(unsaid)


@pytest.fixture(scope="module")
def ignoring(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ignoring")
    git("init", "-q", cwd=root)
    return root


parts = st.text("ab.c", min_size=1, max_size=3).filter(lambda part: part.strip("."))
paths = st.lists(parts, min_size=1, max_size=4).map("/".join)
pieces = st.sampled_from(
    [
        *("a", "b", "ab", ".c", "*", "**", "?", "[ab]", "[!a]", "[a-b]c", "\\a"),
        *("[b-a]", "[!b-a]", "[a-]", "[]a]", "*.c", "b*", "[+--.]"),
    ]
)
patterns = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "", "", "!"]),
    st.sampled_from(["", "", "/"]),
    st.lists(pieces, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["", "", "/", "/**", " "]),
)


@settings(max_examples=60, deadline=None)
@given(st.lists(patterns, min_size=1, max_size=4), st.sets(paths, min_size=5))
@example(["a/**/**/b", "# c", "", "!a/b"], {"a/b", "a/x/y/b", "c"})
@example(["**/a", "!/a", "b/**"], {"a", "b", "b/a", "b/c/a", "c/b"})
def test_patterns_mean_what_they_mean_to_git(
    ignoring: Path, lines: list[str], names: set[str]
) -> None:
    (ignoring / ".git/info/exclude").write_text("".join(f"{line}\n" for line in lines))

    said = git(
        "check-ignore", "-z", "--stdin", "--no-index",
        cwd=ignoring, stdin="\0".join(names).encode(),
    )  # fmt: skip

    ignored = set(said.decode().split("\0")) - {""}
    assert {name for name in names if is_matched(name, lines)} == ignored


@looped(
    *("AGENTS.md", "docs/claude.md", ".mcp.json", ".claude/hooks/x.sh", "AGENT.md"),
    *("packages/a/.claude/skills/b/SKILL.md", "CLAUDE.local.md", "CODEX.md", ".env"),
    *("src/AGENTS.override.md", "src/.agents/skills/b/SKILL.md", ".continuerules"),
    *("src/.github/copilot-instructions.md", "opencode.jsonc", "docs/CONTEXT.md"),
    ".husky/pre-push",
)
def test_what_instructs_the_next_agent_is_protected_unless_it_is_let_go(
    path: str,
) -> None:
    new = PathChange(path, "000000", "100644")
    lenient = load("[gate]\ninstructions = true\n", source="c").settings()

    assert why(new) == (f"The patch changes a protected path: {path}.",)
    assert why(new, gate=lenient.gate) == ()
    assert load("", source="c").settings().gate == GATE
