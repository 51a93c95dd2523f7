"""Which branches nobody needs any more: the deacon deletes them."""

from collections.abc import Container, Iterator, Mapping

from convoy.model import ids
from convoy.model.state import Convoy, State
from convoy.rules.landing import open_candidates


def queue_branches(state: State) -> frozenset[str]:
    """Return the refs that show the open candidates of all convoys to CI."""
    return frozenset(
        f"refs/heads/{ids.queue_branch(lane, candidate.commit)}"
        for convoy in state.live()
        for lane in (ids.base_branch(convoy.name), convoy.target)
        for candidate in open_candidates(convoy)
    )


def unneeded_branches(
    state: State, refs: Mapping[str, str], now: int
) -> Iterator[tuple[str, str]]:
    """Yield the branches that nobody needs at `now` (unix ms), each with its tip.

    They are those of candidates that are no longer open, and those of a landed convoy
    that hold only what landed: not a dropped task's, nor one that somebody pushed to.
    """
    kept = queue_branches(state)
    for ref, tip in sorted(refs.items()):
        if ref.startswith(ids.HEADS + ids.QUEUE):
            if ref not in kept:
                yield ref, tip
        elif part := ids.task_of_branch(ref.removeprefix(ids.HEADS)):
            convoy = state.convoys.get(part[0])
            if convoy is None or convoy.state != "complete":
                continue
            # The forge closes a pull request whose branch goes before it has seen the
            # merge, which it may see late.
            if now < convoy.ended_at + ids.HOUR_MS:
                continue
            if tip in _landed_tips(convoy, part[1]):
                yield ref, tip


def _landed_tips(convoy: Convoy, number: int) -> Container[str | None]:
    """Return where a landed convoy may have left a task's branch, or for 0 its own."""
    if not number:
        return convoy.tips
    task = convoy.task(number)
    if task is None or task.work is None or task.state != "merged":
        return ()
    return task.landed, task.work.commit
