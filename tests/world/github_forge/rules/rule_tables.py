"""What a forge's file holds of rules; read once, however many look at it."""

from typing import Final
from weakref import WeakKeyDictionary

from brat.forge.resources.account_resource import Record, Repository
from brat.forge.storage.record_store import Store, Table
from tests.world.github_forge.rules.protection_resource import Protection
from tests.world.github_forge.rules.ruleset_resource import Ruleset


class PushLimits(Record, frozen=True, kw_only=True):
    """How much one push to a repository may bring; its id is the repository's.

    The figures are GitHub's:
    https://docs.github.com/repositories/creating-and-managing-repositories/repository-limits
    """

    file_bytes: int = 100 << 20
    pack_bytes: int = 2 << 30
    secrets: bool = True
    """Whether a push may bring secrets."""


class RuleTables:
    """The tables of one store."""

    def __init__(self, store: Store) -> None:
        """Read them."""
        self.protections = Table(store, Protection, lambda r: (r.repo, r.branch))
        self.rulesets = Table(store, Ruleset, lambda r: r.repo)
        self._limits = Table(store, PushLimits, lambda r: r.id)
        self._store = store

    def limits(self, repo: Repository) -> PushLimits:
        """Return the limits of a push to a repository."""
        return self._limits.get(repo.id) or PushLimits(id=repo.id)

    def set_limits(self, limits: PushLimits) -> None:
        """Replace the limits of a repository."""
        with self._store.change():
            self._limits.put(limits)


_TABLES: Final = WeakKeyDictionary[Store, RuleTables]()


def rules_in(store: Store) -> RuleTables:
    """Return the tables of a store."""
    if store not in _TABLES:
        _TABLES[store] = RuleTables(store)
    return _TABLES[store]
