"""What servers' refusals are read as, from texts that servers wrote."""

from collections.abc import Sequence

from hypothesis import given, strategies as st

from grite.push_answer import PushAnswer, push_answer
from tests.grite import server_answers as server
from tests.grite.server_answers import WAL, A, B
from tests.world.cases import looped
from tests.world.patience import TIMES, growth


def verdicts(answer: PushAnswer) -> list[str]:
    return [one.verdict for one in answer.refs]


@looped(
    (server.DECLINED, server.GITEA_PROTECTED),
    (server.GITHUB_RULE_REASON, server.GITHUB_RULE),
)
def test_a_branch_that_the_message_names_is_refused_and_the_others_are_not(
    reason: str, stderr: str
) -> None:
    stdout = server.lines((A, reason), (B, reason), (WAL, reason))

    answer = push_answer([A, B, WAL], stdout, stderr)

    assert verdicts(answer) == ["collateral", "refused", "collateral"]
    assert [one.ref for one in answer.refused] == [B]
    assert not answer.unnamed
    assert "main" in answer.refused[0].said
    assert answer.refused[0].said.endswith(f"({reason})")


def test_two_branches_that_github_names_are_both_refused_each_with_its_own_rule() -> (
    None
):
    reason = server.GITHUB_RULE_REASON
    stdout = server.lines((A, reason), (B, reason))

    answer = push_answer([A, B], stdout, server.GITHUB_SECRET + server.GITHUB_RULE)

    assert verdicts(answer) == ["refused", "refused"]
    secret, rule = answer.refused
    assert "Push cannot contain secrets" in secret.said
    assert "src/api/github.ts:34" in secret.said
    assert "pull request" not in secret.said
    assert "pull request" in rule.said
    assert "secret" not in rule.said


@looped(
    (server.DECLINED, server.GITEA_HOOK, "policy: no pushes today"),
    (server.DECLINED, server.GITEA_NO_RIGHT, "User permission denied for writing."),
    (server.DECLINED, "", "pre-receive hook declined"),
)
def test_a_message_that_names_no_ref_refuses_the_push_as_a_whole(
    reason: str, stderr: str, said: str
) -> None:
    stdout = server.lines((A, reason), (B, reason), (WAL, reason))

    answer = push_answer([A, B, WAL], stdout, stderr)

    assert verdicts(answer) == ["refused"] * 3
    assert answer.unnamed
    assert answer.refused == ()
    assert said in answer.said
    assert all(reason in one.said for one in answer.refs)


@looped(
    ([A, B], (f"checking {A}", f"checking {B}"), []),
    ([B, WAL], ("in the main this is a no",), []),  # a word that happens to be a name
    ([B, f"{B}/base"], (f"no: {B}/base.",), ["collateral", "refused"]),
    ([A], ("policy: no pushes today",), ["refused"]),  # it is alone
)
def test_a_message_that_names_every_ref_or_a_word_alike_tells_none_apart(
    asked: list[str], said: tuple[str, ...], told: list[str]
) -> None:
    stdout = server.lines(*((ref, server.DECLINED) for ref in asked))

    answer = push_answer(asked, stdout, server.remote(*said))

    assert answer.unnamed != bool(told)
    assert verdicts(answer) == told or answer.unnamed


@looped(
    server.GITEA_ARCHIVED,
    server.GITEA_NOT_FOUND,
    server.GITHUB_ARCHIVED,
)
def test_a_request_that_is_refused_names_no_ref(stderr: str) -> None:
    answer = push_answer([A, B], "", stderr)

    assert verdicts(answer) == ["refused", "refused"]
    assert answer.unnamed
    assert stderr.partition(": ")[2].partition("\n")[0] in answer.said


def test_colours_and_control_characters_are_not_passed_on_nor_a_long_message() -> None:
    stdout = server.lines((A, server.DECLINED))
    stderr = server.remote("\x1b[31mno\x1b[0m \x07here\u202e", "\x1b]8;;x\x07more")

    answer = push_answer([A], stdout, stderr)
    assert answer.said == "no here\nmore\npre-receive hook declined"

    answer = push_answer([A], stdout, server.remote(*["x" * 1000] * 1000))
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
    answer = push_answer(asked, server.lines(*told), server.remote(*said))

    assert [one.ref for one in answer.refs] == list(asked)
    assert len(answer.said) <= 2000
    if answer.unnamed:
        assert "refused" in verdicts(answer)


def test_a_message_without_end_about_many_refs_is_read_in_a_moment() -> None:
    asked = [f"refs/heads/convoy/g/task-{number}" for number in range(100)]
    stdout = server.lines(*((ref, "hook declined") for ref in asked))

    def read(lines: int) -> None:
        answer = push_answer(asked, stdout, "remote: x\n" * lines)
        assert len(answer.refused) == 100

    assert growth(read, 25_000) < TIMES / 2  # most of it is not read
