"""Protected paths are asked for when a task is planned, not after its sessions."""

from msgspec.structs import replace

from convoy.events import decided
from convoy.events.task_events import TaskBlocked
from convoy.gate import PathChange, gate_of, protected, refusals
from convoy.model.records import Gate, Limits
from convoy.rules.plans import AllowPaths
from convoy.views.interventions import stopped
from convoy.views.plan import plan_document
from tests.world.cases import looped
from tests.world.rules import NAME, Rules, made, spec

WORKFLOW = ".github/workflows/ci.yml"


def blocked() -> Rules:
    return Rules().planned(
        spec(1, paths=(WORKFLOW, "src/a.py")), spec(2), spec(3, paths=(".brat/",))
    )


def why_not(rules: Rules, path: str) -> tuple[str, ...]:
    task = rules.task(1)
    gate = gate_of(rules.convoy.settings.gate, task)
    return refusals((PathChange(path, "000000", "100644"),), 1, gate, Limits())


def test_allowed_it_goes_on_and_its_gate_alone_is_open_for_these_paths() -> None:
    rules = blocked().do(AllowPaths(convoy=NAME, task=1, by="ann"))

    assert rules.task(1).state == "queued"
    assert why_not(rules, WORKFLOW) == ()
    assert why_not(rules, ".github/workflows/other.yml")
    assert why_not(rules, ".github/workflows/ci.yml/x") == ()
    assert why_not(rules, "CLAUDE.md")
    assert plan_document(rules.convoy).tasks[0].protected_by == "allowed"
    rules.started(1)
    assert rules.task(1).state == "running"
    assert gate_of(rules.convoy.settings.gate, rules.task(2)).spared == ()


@looped(".brat/config.toml", ".git/hooks/x", ".gitmodules")
def test_what_brat_and_git_obey_nobody_allows(path: str) -> None:
    refused = AllowPaths(convoy=NAME, task=1, by="ann", path=path)
    assert "a person must do it" in str(decided(refused, blocked().state))
    whole = decided(AllowPaths(convoy=NAME, task=3, by="ann"), blocked().state)
    assert "a person must do it" in str(whole)


def test_a_path_with_signs_of_a_pattern_allows_no_other() -> None:
    rules = Rules().planned(spec(1))
    gate = replace(rules.convoy.settings.gate, protected=("secret/**",))
    task = replace(rules.task(1), allowed=("secret/[ab].py",))
    open_gate = gate_of(gate, task)

    def refused(path: str) -> bool:
        change = PathChange(path, "000000", "100644")
        return bool(refusals((change,), 1, open_gate, Limits()))

    assert not refused("secret/[ab].py")
    assert refused("secret/a.py")


def test_what_is_not_protected_needs_no_word() -> None:
    assert protected(("src/", "a.py", ".github"), Gate()) == (".github",)
    refused = decided(AllowPaths(convoy=NAME, task=2, by="ann"), blocked().state)
    assert "not protected" in str(refused)

    rules = Rules().planned(spec(1))
    why = "The patch adds or changes a symbolic link: a."
    blocked_by = TaskBlocked(convoy=NAME, task=1, why=why)
    told = decided(made(AllowPaths), blocked_by.change(rules.state))
    assert "is blocked for another reason: The patch adds" in str(told)


def test_a_path_for_which_its_work_was_refused_may_be_allowed() -> None:
    rules = Rules().planned(spec(1))
    [why] = why_not(rules, WORKFLOW)
    rules.started(1).refused(1, protected=(WORKFLOW,)).blocked(1, why)

    asked = stopped(rules.convoy, rules.task(1))
    assert asked.commands[0] == f"brat allow 1 --convoy {NAME}"
    rules.do(AllowPaths(convoy=NAME, task=1, by="ann"))
    assert why_not(rules, WORKFLOW) == ()
    assert why_not(rules, ".github/workflows/other.yml")
    assert rules.task(1).state == "queued"


def test_a_path_that_only_its_words_name_is_said_and_may_be_allowed() -> None:
    rules = Rules().planned(spec(1, instructions="Say in CLAUDE.md how to test."))

    assert rules.task(1).state == "queued"
    assert "/brat allow 1" in plan_document(rules.convoy).tasks[0].protected_by
    rules.do(AllowPaths(convoy=NAME, task=1, by="ann"))
    assert why_not(rules, "CLAUDE.md") == ()
