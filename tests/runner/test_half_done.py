"""An attempt that goes on from half-done work: its checkout, its prompt, its result."""

from tests.runner.job import Forge, git


def test_it_finds_the_work_and_what_to_compare_it_with(forge: Forge) -> None:
    root = forge.base
    forge.commit_on_main({"half.txt": "half\n"})
    script = """
    cat half.txt > seen
    git diff "$(grep -o '[0-9a-f]\\{40\\}' "$BRAT_PROMPT" | head -n 1)" HEAD > diff
    grep "Attempt 1 was cut off" "$BRAT_PROMPT"
    """

    left = forge.sh(script, root=root, salvaged=1)

    assert left.result["conclusion"] == "success", left.err
    assert left.result["why"] == "Changed 2 more files."
    clone = forge.unpacked(left)
    assert git("show", "work:seen", cwd=clone) == "half"
    assert "+half" in git("show", "work:diff", cwd=clone)
    assert git("rev-parse", "work~1", cwd=clone) == forge.base
