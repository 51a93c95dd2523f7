"""The refinery's builder over commits in memory."""

from bot.repository.compose import Composer, Conflicted, Piece
from convoy.model.records import Strategy
from tests.world.model.forge import Forge


class ModelComposer(Composer):
    def __init__(self, forge: Forge) -> None:
        self.commits = forge.commits

    def build(self, strategy: Strategy, piece: Piece) -> str | Conflicted:
        match strategy:
            case "merge":
                fork = self.base_of(piece.onto, piece.work) or piece.base
                parents = (piece.onto, piece.work)
                return self._made(fork, piece, parents)
            case "squash":
                return self._made(piece.base, piece, (piece.onto,))
            case "rebase":
                return self._rebased(piece)

    def unresolved(self, piece: Piece) -> str:
        """Return a merge in which files that conflict hold both sides."""
        fork = piece.base
        if self.is_ancestor(fork, piece.onto):
            fork = self.base_of(piece.onto, piece.work) or fork
        made = self.commits.merged(fork, piece.onto, piece.work)
        if isinstance(made, Conflicted):
            made = self.commits.both(fork, piece.onto, piece.work)
        parents = (piece.onto, piece.work)
        return self.commits.make(parents, made, "unresolved")

    def flattened(self, base: str, work: str) -> str:
        return self.commits.make((base,), self.commits[work].files, work)

    def target_of(self, merge: str) -> str:
        return self.commits[merge].parents[1]

    def integrated(self, piece: Piece) -> str | Conflicted:
        """Return resolved work on an unresolved merge as one merge commit."""
        began, taken = self.commits[piece.base].parents
        parents = (piece.onto, taken)
        return self._made(began, piece, parents)

    def told(self, commit: str) -> tuple[str, ...]:
        return "", *self.commits[commit].parents

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.commits.contains(new, old)

    def same_tree(self, one: str, other: str) -> bool:
        return self.commits[one].files == self.commits[other].files

    def base_of(self, one: str, other: str) -> str | None:
        return self.commits.fork_of(one, other)

    def _rebased(self, piece: Piece) -> str | Conflicted:
        if piece.base == piece.onto and not piece.is_again:
            return piece.work
        onto = piece.onto
        for commit in self.commits.chain(piece.base, piece.work):
            parent = self.commits[commit].parents[0]
            made = self.commits.merged(parent, onto, commit)
            if isinstance(made, Conflicted):
                return made
            if made != self.commits[onto].files:
                onto = self.commits.make((onto,), made, _note(piece, commit))
        return onto

    def _made(
        self, ancestor: str, piece: Piece, parents: tuple[str, ...]
    ) -> str | Conflicted:
        made = self.commits.merged(ancestor, piece.onto, piece.work)
        if isinstance(made, Conflicted):
            return made
        return self.commits.make(parents, made, _note(piece, piece.work))


def _note(piece: Piece, commit: str) -> tuple[str, int]:
    """Return what tells a commit from others of the same files: its work and date."""
    return commit, piece.at if piece.is_again else 0
