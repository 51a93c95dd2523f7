"""The addresses in answers: each of them starts with the forge's own.

Clients such as PyGithub refuse addresses of another host, so nothing is hard-wired.
"""

from base64 import b64encode
from dataclasses import dataclass

API = "/api/v3"
BY_NAME = "/repos/{owner}/{repo}"
BY_ID = r"/repositories/{repository:\d+}"
"""The two ways to name a repository in a path; redirects use the second."""
DOCS = "https://docs.github.com/rest"
LOCKING = "https://docs.github.com/articles/locking-conversations/"


@dataclass(frozen=True, slots=True)
class Site:
    """The address the forge is reached at, without a slash at its end."""

    base: str = "http://127.0.0.1"

    @property
    def api(self) -> str:
        """Where the REST API starts."""
        return self.base + API

    def repo(self, full_name: str) -> str:
        """Where a repository is in the API."""
        return f"{self.api}/repos/{full_name}"

    def page(self, full_name: str, *parts: object) -> str:
        """The address of a page (only a name: the forge serves no pages)."""
        return "/".join([self.base, full_name, *map(str, parts)])


def node_id(kind: str, number: int | str) -> str:
    """The id that GraphQL would use: opaque, and unique for kind and number."""
    return b64encode(f"{kind}:{number}".encode()).decode().rstrip("=")
