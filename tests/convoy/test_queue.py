"""Who may start, and the chain of candidates that wait to land."""

from hypothesis import given, settings, strategies as st
from msgspec.structs import replace

from convoy.events.people_events import ConvoyPaused
from convoy.model.state import Convoy, Task
from convoy.model.work import Candidate, Work
from convoy.rules.landing import (
    AttemptMerge,
    LandMerge,
    chain,
    open_candidates,
    waiting_to_merge,
)
from convoy.rules.people import BlockTask, DropTask, FailConvoy
from convoy.rules.starting import blocking_leases, moment
from tests.world.rules import NAME, Rules, made, sha, spec, startable

TIP = sha("0")


def waiting(*numbers: int) -> Rules:
    """Return rules with accepted work of these tasks: task n has commit nnn..."""
    rules = Rules().planned(*(spec(n) for n in numbers))
    for number in numbers:
        rules.started(number).accepted(number, sha(str(number)))
    return rules


def order(convoy: Convoy) -> list[int]:
    return [task.number for task in waiting_to_merge(convoy)]


# --- starting -------------------------------------------------------------------------


def test_only_queued_tasks_of_active_convoys_start() -> None:
    rules = Rules().planned(spec(1), spec(2))

    assert startable(rules.convoy, rules.task(1))
    rules.started(1)
    assert not startable(rules.convoy, rules.task(1))
    rules.do(ConvoyPaused(convoy=NAME, by="ann"))
    assert not startable(rules.convoy, rules.task(2))


def test_what_is_needed_must_be_merged_not_only_settled() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3, after=(1, 2))).landed(1, sha("a"))
    rules.do(BlockTask(convoy=NAME, task=2, why="no"))

    assert not startable(rules.convoy, rules.task(3))


def test_a_need_that_is_not_in_the_plan_is_never_met() -> None:
    task = Task(spec=spec(2, after=(1,)))
    convoy = replace(Rules().planned(spec(1)).convoy, tasks=(task,))

    assert not startable(convoy, task)


def test_leases_on_a_folder_keep_out_what_is_in_it() -> None:
    rules = Rules().planned(
        spec(1, paths=("src/",), needs=("port:80",)),
        spec(2, paths=("src/a/b.py",)),
        spec(3, paths=("srcs/a.py",)),
        spec(4, needs=("port:80",)),
        spec(5),
    )
    rules.started(1)

    at = moment(rules.state, rules.now)
    held = {
        task.number: [one.resource for one in blocking_leases(at.leases, task)]
        for task in rules.convoy.tasks[1:]
    }

    assert held == {2: ["path:src/"], 3: [], 4: ["port:80"], 5: []}


# --- the merge queue ------------------------------------------------------------------


def test_what_was_accepted_first_merges_first() -> None:
    rules = Rules().planned(spec(1), spec(2), spec(3))
    rules.started(1).started(2).started(3)

    for number in (3, 1, 2):
        rules.accepted(number, sha(str(number)), f"{number}.py")

    assert order(rules.convoy) == [3, 1, 2]


def test_each_candidate_stands_on_the_one_ahead() -> None:
    rules = waiting(1, 2, 3).offered(1, sha("a"), TIP).offered(2, sha("b"), sha("a"))

    queue = chain(rules.convoy, TIP)

    assert [link.candidate.commit for link in queue.links] == [sha("a"), sha("b")]
    assert queue.onto == sha("b")
    assert [task.number for task in queue.unbuilt] == [3]


def test_what_has_landed_leaves_the_rest_of_the_chain_whole() -> None:
    rules = waiting(1, 2).offered(1, sha("a"), TIP).offered(2, sha("b"), sha("a"))

    rules.do(LandMerge(convoy=NAME, task=1, candidate=sha("a"), judged=("ci",)))
    queue = chain(rules.convoy, sha("a"))

    assert [link.task.number for link in queue.links] == [2]
    assert queue.unbuilt == ()


def test_only_the_window_is_built() -> None:
    convoy = waiting(*range(1, 6)).convoy
    convoy = replace(convoy, settings=replace(convoy.settings, max_parallel=3))

    queue = chain(convoy, TIP)

    assert [task.number for task in queue.unbuilt] == [1, 2, 3]


def test_open_candidates_are_those_of_tasks_and_of_the_convoy() -> None:
    rules = waiting(1, 2).offered(1, sha("a"), TIP)
    assert [one.commit for one in open_candidates(rules.convoy)] == [sha("a")]
    rules.do(LandMerge(convoy=NAME, task=1, candidate=sha("a"), judged=("ci",)))
    rules.do(DropTask(convoy=NAME, task=2, why="no"))
    whole = made(AttemptMerge, task=0, candidate=sha("c"), work=sha("a"))

    assert [one.commit for one in open_candidates(rules.do(whole).convoy)] == [sha("c")]
    rules.do(FailConvoy(convoy=NAME, why="cancelled"))

    assert not [*open_candidates(rules.convoy)]


# --- any queue ------------------------------------------------------------------------

STATES = ("queued", "running", "needs-review", "merged", "blocked", "dropped")
commits = st.sampled_from([TIP, *map(sha, "abcdef")])
works = st.builds(
    Work,
    attempt=st.just(1),
    commit=st.sampled_from([sha("x"), sha("y")]),
    base=st.just(TIP),
    files=st.just(()),
    at=st.integers(0, 3),
)
offers = st.none() | st.builds(
    Candidate,
    commit=commits,
    base=commits,
    work=st.sampled_from([sha("x"), sha("y")]),
    at=st.just(0),
)


@st.composite
def convoys(draw: st.DrawFn) -> Convoy:
    """Any convoy, also one that no rule would have let come about."""
    shape = st.builds(
        Task,
        spec=st.just(spec(1)),
        state=st.just("needs-review") | st.sampled_from(STATES),
        work=works,
        candidate=offers,
    )
    drawn = draw(st.lists(shape, max_size=7))
    tasks = [replace(task, spec=spec(n)) for n, task in enumerate(drawn, start=1)]
    if draw(st.booleans()):
        tasks = _chained(tasks)
    return replace(Rules().planned(spec(1)).convoy, tasks=tuple(tasks))


def _chained(tasks: list[Task]) -> list[Task]:
    onto, out = TIP, []
    for task in tasks:
        offer = task.candidate
        if offer is not None and task.work is not None:
            offer = replace(offer, base=onto, work=task.work.commit)
            onto = offer.commit
        out.append(replace(task, candidate=offer))
    return out


@given(convoys())
@settings(deadline=None, max_examples=80)
def test_links_form_an_unbroken_chain_over_the_tip(convoy: Convoy) -> None:
    queue = chain(convoy, TIP)

    onto = TIP
    for link in queue.links:
        assert link.task.work is not None
        assert link.candidate == link.task.candidate
        assert link.candidate.base == onto
        assert link.candidate.work == link.task.work.commit
        onto = link.candidate.commit
    assert queue.onto == onto


@given(convoys())
@settings(deadline=None, max_examples=80)
def test_each_waiting_task_is_linked_or_unbuilt_never_both(convoy: Convoy) -> None:
    queue = chain(convoy, TIP)

    linked = [link.task.number for link in queue.links]
    unbuilt = [task.number for task in queue.unbuilt]
    assert linked + unbuilt == order(convoy)[: convoy.settings.max_parallel]


@given(convoys())
@settings(deadline=None, max_examples=80)
def test_a_chain_stops_only_where_a_candidate_must_be_built(convoy: Convoy) -> None:
    queue = chain(convoy, TIP)

    if queue.unbuilt:
        task = queue.unbuilt[0]
        assert task.work is not None
        assert (
            task.candidate is None
            or task.candidate.base != queue.onto
            or task.candidate.work != task.work.commit
        )
