"""What servers' refusals are read as, from texts that servers wrote."""

from collections.abc import Sequence
from typing import Final

from hypothesis import given, strategies as st

from grite.push_answer import PushAnswer, push_answer
from tests.world.cases import looped
from tests.world.patience import LINEAR, growth

A: Final = "refs/heads/convoy/g/task-1"
B: Final = "refs/heads/main"
WAL: Final = "refs/grite/wal"


def lines(*told: tuple[str, str]) -> str:
    """Git's standard output: for each ref, its refusal."""
    commit = "10b9686bc448cec2993d22ff9341e57ec5e6610d"
    refs = (f"!\t{commit}:{ref}\t[remote rejected] ({why})\n" for ref, why in told)
    return f"To http://127.0.0.1:3300/you/widgets.git\n{''.join(refs)}Done\n"


def remote(*said: str) -> str:
    """Git's standard error: the server's lines, padded as git pads them."""
    told = "".join(f"remote: {line}        \n" for line in said)
    return f"{told}error: failed to push some refs to 'http://127.0.0.1/widgets.git'\n"


DECLINED: Final = "pre-receive hook declined"

GITEA_PROTECTED: Final = remote(
    "", "error:", "error: Not allowed to push to protected branch main", "error:"
)
GITEA_NO_RIGHT: Final = remote("", "error: User permission denied for writing.")
GITEA_HOOK: Final = remote("policy: no pushes today")

# https://github.com/henne49/dbus-opendtu/issues/235
GITHUB_RULE_REASON: Final = "push declined due to repository rule violations"
GITHUB_RULE: Final = remote(
    "error: GH013: Repository rule violations found for refs/heads/main.",
    "Review all repository rules at "
    "https://github.com/you/widgets/rules?ref=refs%2Fheads%2Fmain",
    "",
    "- Changes must be made through a pull request.",
    "",
)
# https://github.com/palxiao/poster-design/issues/140
GITHUB_SECRET: Final = remote(
    "error: GH013: Repository rule violations found for refs/heads/convoy/g/task-1.",
    "",
    "- GITHUB PUSH PROTECTION",
    "  —————————————————————————————————————————",
    "    Resolve the following violations before pushing again",
    "",
    "    - Push cannot contain secrets",
    "",
    "      —— GitHub Personal Access Token ——————————————————————",
    "       locations:",
    "         - commit: 5477a7dd26384ed3c8b3814ee677f755ad27a597",
    "           path: src/api/github.ts:34",
)


def verdicts(answer: PushAnswer) -> list[str]:
    return [one.verdict for one in answer.refs]


def all_refused(reason: str, stderr: str) -> PushAnswer:
    asked = [A, B, WAL]
    return push_answer(asked, lines(*((ref, reason) for ref in asked)), stderr)


@looped((DECLINED, GITEA_PROTECTED), (GITHUB_RULE_REASON, GITHUB_RULE))
def test_a_branch_that_the_message_names_is_refused_and_the_others_are_not(
    reason: str, stderr: str
) -> None:
    answer = all_refused(reason, stderr)

    assert verdicts(answer) == ["collateral", "refused", "collateral"]
    assert [one.ref for one in answer.refused] == [B]
    assert not answer.unnamed
    assert "main" in answer.refused[0].said
    assert answer.refused[0].said.endswith(f"({reason})")


def test_two_branches_that_github_names_are_both_refused_each_with_its_own_rule() -> (
    None
):
    stdout = lines((A, GITHUB_RULE_REASON), (B, GITHUB_RULE_REASON))
    answer = push_answer([A, B], stdout, GITHUB_SECRET + GITHUB_RULE)

    assert verdicts(answer) == ["refused", "refused"]
    secret, rule = answer.refused
    assert "Push cannot contain secrets" in secret.said
    assert "src/api/github.ts:34" in secret.said
    assert "pull request" not in secret.said
    assert "pull request" in rule.said
    assert "secret" not in rule.said


@looped(
    (GITEA_HOOK, "policy: no pushes today"),
    (GITEA_NO_RIGHT, "User permission denied for writing."),
    ("", "pre-receive hook declined"),
)
def test_a_message_that_names_no_ref_refuses_the_push_as_a_whole(
    stderr: str, said: str
) -> None:
    answer = all_refused(DECLINED, stderr)

    assert verdicts(answer) == ["refused"] * 3
    assert answer.unnamed
    assert answer.refused == ()
    assert said in answer.said
    assert all(DECLINED in one.said for one in answer.refs)


@looped(
    ([A, B], (f"checking {A}", f"checking {B}"), []),
    ([B, WAL], ("in the main this is a no",), []),  # a word that happens to be a name
    ([B, f"{B}/base"], (f"no: {B}/base.",), ["collateral", "refused"]),
    ([A], ("policy: no pushes today",), ["refused"]),  # it is alone
)
def test_a_message_that_names_every_ref_or_a_word_alike_tells_none_apart(
    asked: list[str], said: tuple[str, ...], told: list[str]
) -> None:
    stdout = lines(*((ref, DECLINED) for ref in asked))
    answer = push_answer(asked, stdout, remote(*said))

    assert answer.unnamed != bool(told)
    assert verdicts(answer) == told or answer.unnamed


def test_a_message_that_could_name_a_ref_at_many_places_is_read_in_one_pass() -> None:
    stdout = lines((A, DECLINED), (B, DECLINED))

    def read(times: int) -> None:
        push_answer([A, B], stdout, remote("GH001: " * times))

    assert growth(read, 400) < LINEAR


def test_colours_and_control_characters_are_not_passed_on_nor_a_long_message() -> None:
    def told(*said: str) -> PushAnswer:
        return push_answer([A], lines((A, DECLINED)), remote(*said))

    odd = ("\x1b[31mno\x1b[0m \x07here\u202e", "\x1b]8;;x\x07more")
    assert told(*odd).said == "no here\nmore\npre-receive hook declined"
    answer = told(*["x" * 1000] * 1000)
    assert len(answer.said) == 2000
    assert len(answer.refused[0].said) < 2100


refs = st.sampled_from([A, B, WAL, f"{A}/x", "refs/heads/x"])
words = st.one_of(st.text(max_size=40), refs, st.sampled_from(["error: ", "GH013: "]))


@given(
    st.lists(refs, unique=True),
    st.lists(st.tuples(refs, st.text(max_size=60))),
    st.lists(st.lists(words, max_size=4).map(" ".join)),
)
def test_any_answer_has_one_verdict_for_each_ref(
    asked: Sequence[str], told: Sequence[tuple[str, str]], said: Sequence[str]
) -> None:
    answer = push_answer(asked, lines(*told), remote(*said))

    assert [one.ref for one in answer.refs] == list(asked)
    assert len(answer.said) <= 2000
    if answer.unnamed:
        assert "refused" in verdicts(answer)
