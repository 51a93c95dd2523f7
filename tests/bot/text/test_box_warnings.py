"""Where an agent worked without walls, its convoy and its work say so."""

from msgspec.structs import replace

from bot.roles.result_artifact import ClaimedWalls, Result
from bot.text.convoy_comment import convoy_table
from bot.text.pull_request_texts import convoy_pull_body, task_pull_body
from convoy.model.records import Settings
from convoy.model.state import Convoy
from convoy.model.work import Work
from tests.world.rules import Rules, sha, spec

NO_BOX = '`[runner] box = "off"`'
ALL = ClaimedWalls(
    files="landlock", processes="landlock", user="uid", syscalls="seccomp"
)


def texts(convoy: Convoy) -> tuple[str, ...]:
    task = convoy.tasks[0]
    return (
        convoy_table(convoy),
        task_pull_body(convoy, task),
        convoy_pull_body(convoy),
    )


def worked(missing: tuple[str, ...]) -> Convoy:
    """Return a convoy whose first task has work that was done without these walls."""
    plan = Rules().planned(spec(1), spec(2)).convoy
    work = Work(
        attempt=1, commit=sha("c"), base=sha("b"), files=(), at=1, missing_walls=missing
    )
    first, *others = plan.tasks
    return replace(plan, tasks=(replace(first, work=work), *others))


def test_a_missing_wall_is_a_warning_wherever_the_work_is_shown() -> None:
    for text in texts(worked(("files", "user"))):
        assert "Missing isolation** of agents" in text
        assert "task 1: files, user." in text
        assert "task 2" not in text.split("isolation**")[1].split("\n")[0]
    for text in texts(worked(())):
        assert "isolation**" not in text


def test_a_box_that_is_off_is_said_wherever_the_convoy_is_shown() -> None:
    convoy = worked(())
    off = replace(convoy, settings=replace(convoy.settings, box="off"))

    assert all(NO_BOX in text for text in texts(off))
    assert not any(NO_BOX in text for text in texts(convoy))


def test_a_wall_is_missed_unless_it_is_claimed() -> None:
    settings = Settings(engines={})
    closed = replace(settings, egress=("pypi.org",))

    def missed(under: Settings, **said: object) -> tuple[str, ...]:
        told = {"v": 1, "session": "a/1/1", "nonce": "n", "base": sha("b")}
        result = Result.model_validate({**told, "conclusion": "success", **said})
        return result.missing_walls(under)

    assert missed(settings) == ("files", "processes", "user", "syscalls")
    assert missed(settings, walls=ALL) == ()
    assert missed(closed, walls=ALL) == ("network",)
    assert missed(settings, walls=ALL, network="No space left") == ("network",)
    assert missed(replace(settings, egress=("*",)), walls=ALL) == ()
    assert missed(replace(settings, box="off")) == ()
