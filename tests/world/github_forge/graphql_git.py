"""What GraphQL shows of accounts, commits and refs, field by field.

https://docs.github.com/graphql/reference/objects
"""

from dataclasses import dataclass
from typing import Final

from brat.forge.resources.account_resource import Repository, User
from brat.forge.resources.wire import node_id
from brat.forge.storage.git_storage import Bare
from tests.world.github_forge.graphql_rules import RefUpdateRule, ref_update_rule
from tests.world.github_forge.graphql_viewer import Viewer
from tests.world.github_forge.rules.rule_bindings import protection_of

HEADS: Final = "refs/heads/"


@dataclass(frozen=True)
class AccountNode:
    """A person, or a bot."""

    kind: str
    id: str
    login: str


@dataclass(frozen=True)
class TreeNode:
    """The files of a commit."""

    oid: str
    kind: str = "Tree"

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.oid)


@dataclass(frozen=True)
class CommitNode:
    """A commit."""

    bare: Bare
    oid: str
    kind: str = "Commit"

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, self.oid)

    def tree(self) -> TreeNode:
        """Return its files."""
        found = self.bare.commit(self.oid)
        assert found is not None
        return TreeNode(str(found.tree_id))


@dataclass(frozen=True)
class RefNode:
    """A branch or a tag."""

    viewer: Viewer
    repo: Repository
    full_name: str
    oid: str
    kind: str = "Ref"

    @property
    def prefix(self) -> str:
        """What its name starts with, up to the second slash."""
        return "/".join(self.full_name.split("/")[:2]) + "/"

    @property
    def name(self) -> str:
        """Its name without that."""
        return self.full_name.removeprefix(self.prefix)

    @property
    def id(self) -> str:
        """Its global id."""
        return node_id(self.kind, f"{self.repo.id}:{self.full_name}")

    def target(self) -> CommitNode:
        """Return what it points at."""
        return CommitNode(self.viewer.service.forge.bare(self.repo), self.oid)

    def ref_update_rule(self) -> RefUpdateRule | None:
        """Return a branch's own protection, as it binds the viewer."""
        forge = self.viewer.service.forge
        if self.prefix != HEADS:
            return None
        kept = protection_of(forge, self.repo, self.name)
        if kept is None:
            return None
        return ref_update_rule(kept, forge.role(self.repo, self.viewer.caller.user))


def account(who: User) -> AccountNode:
    """Return an account."""
    return AccountNode(who.kind, node_id(who.kind, who.id), who.login)
