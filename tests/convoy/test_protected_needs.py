"""Protected paths are asked for when a task is planned, not after its sessions."""

from msgspec.structs import replace

from convoy.gate import PathChange, gate_of, protected, refusals
from convoy.model.records import Gate, Limits
from convoy.rules.plans import AllowPaths
from convoy.views.interventions import stopped
from convoy.views.plan import plan_document
from tests.convoy.room import refused
from tests.world.rules import NAME, Rules, made, spec

WORKFLOW = ".github/workflows/ci.yml"


def blocked() -> Rules:
    return Rules().planned(
        spec(1, paths=(WORKFLOW, "src/a.py")), spec(2), spec(3, paths=(".brat/",))
    )


def why_not(rules: Rules, path: str, **more: object) -> tuple[str, ...]:
    task = replace(rules.task(1), **more)
    gate = gate_of(rules.convoy.settings.gate, task)
    return refusals((PathChange(path, "000000", "100644"),), 1, gate, Limits())


def test_allowed_it_goes_on_and_its_gate_alone_is_open_for_these_paths() -> None:
    rules = blocked().do(made(AllowPaths))

    assert rules.task(1).state == "queued"
    assert why_not(rules, WORKFLOW) == ()
    assert why_not(rules, ".github/workflows/other.yml")
    assert why_not(rules, ".github/workflows/ci.yml/x") == ()
    assert why_not(rules, "CLAUDE.md")
    odd = {"allowed": (".github/[ab].py",)}  # signs of a pattern allow no other
    assert not why_not(rules, ".github/[ab].py", **odd)
    assert why_not(rules, ".github/a.py", **odd)
    assert plan_document(rules.convoy).tasks[0].protected_by == "allowed"
    rules.started(1)
    assert rules.task(1).state == "running"
    assert gate_of(rules.convoy.settings.gate, rules.task(2)).spared == ()


def test_what_brat_and_git_obey_nobody_allows_and_no_other_needs_a_word() -> None:
    obeyed = (".brat/config.toml", ".git/hooks/x", ".gitmodules")
    for allow in (
        *(made(AllowPaths, path=path) for path in obeyed),
        made(AllowPaths, task=3),
    ):
        assert "a person must do it" in refused(blocked(), allow)
    assert protected(("src/", "a.py", ".github"), Gate()) == (".github",)
    assert "not protected" in refused(blocked(), made(AllowPaths, task=2))

    why = "The patch adds or changes a symbolic link: a."
    rules = Rules().planned(spec(1)).blocked(1, why)
    told = "is blocked for another reason: The patch adds"
    assert told in refused(rules, made(AllowPaths))


def test_a_path_for_which_its_work_was_refused_may_be_allowed() -> None:
    rules = Rules().planned(spec(1))
    [why] = why_not(rules, WORKFLOW)
    rules.started(1).refused(1, protected=(WORKFLOW,)).blocked(1, why)
    asked = stopped(rules.convoy, rules.task(1))
    assert asked.commands[0] == f"brat allow 1 --convoy {NAME}"
    rules.do(made(AllowPaths))
    assert why_not(rules, WORKFLOW) == ()
    assert why_not(rules, ".github/workflows/other.yml")
    assert rules.task(1).state == "queued"

    rules = Rules().planned(spec(1, instructions="Say in CLAUDE.md how to test."))
    assert rules.task(1).state == "queued", "only its words name it"
    assert "/brat allow 1" in plan_document(rules.convoy).tasks[0].protected_by
    rules.do(made(AllowPaths))
    assert why_not(rules, "CLAUDE.md") == ()
