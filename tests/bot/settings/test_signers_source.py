"""Which source of allowed signers counts, by the default branch's rules."""

from bot.settings.bot_folder import SignersFrom, source_in_force
from convoy.model.work import TargetRules
from tests.world.cases import looped

OPEN = TargetRules()
REVIEWED = TargetRules(pull_request=True, reviews=1)


@looped(
    ("pinned", "has_file", "rules", "source"),
    [
        ("", False, REVIEWED, "own key"),
        ("", True, REVIEWED, "file"),
        ("", True, TargetRules(frozen=True), "file"),
        ("", True, OPEN, "own key"),
        # A token of CI could open such a pull request, and merge it.
        ("", True, TargetRules(pull_request=True), "own key"),
        ("", True, TargetRules(unknown=("how main is protected",)), "own key"),
        ("a key", True, REVIEWED, "settings"),
        ("a key", False, OPEN, "settings"),
        (" \n", True, REVIEWED, "file"),
    ],
)
def test_a_file_counts_only_where_nobody_can_change_it_alone(
    pinned: str, *, has_file: bool, rules: TargetRules, source: SignersFrom
) -> None:
    found = source_in_force(pinned, has_file=has_file, rules=rules)

    assert found.source == source
    assert found.why
