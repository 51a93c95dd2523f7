"""Addresses, times and refusals over HTTP, in the form that GitHub gives them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

API = "/api/v3"
BY_NAME = "/repos/{owner}/{repo}"
BY_ID = r"/repositories/{repository:\d+}"
"""The two ways to name a repository in a path; redirects use the second."""
DOCS = "https://docs.github.com/rest"


@dataclass(frozen=True, slots=True)
class Site:
    """The address the forge is reached at, without a slash at its end."""

    base: str = "http://127.0.0.1"

    @property
    def api(self) -> str:
        return self.base + API

    def repo(self, full_name: str) -> str:
        return f"{self.api}/repos/{full_name}"

    def page(self, full_name: str, *parts: object) -> str:
        """The address of a page (only a name: the forge serves no pages)."""
        return "/".join([self.base, full_name, *map(str, parts)])


def fields(one: object, names: str) -> dict[str, Any]:
    """The fields of a record that an answer has by the same names."""
    return {name: getattr(one, name) for name in names.split()}


@dataclass(frozen=True, slots=True)
class Fault:
    resource: str
    field: str
    code: str
    """GitHub's: missing, missing_field, invalid, already_exists, custom."""
    message: str = ""


class Refused(Exception):
    """The request is answered with an error; nothing was changed."""

    def __init__(
        self,
        status: int,
        message: str,
        *faults: Fault,
        headers: dict[str, str] | None = None,
        docs: str = DOCS,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.faults = faults
        self.headers = headers or {}
        self.docs = docs

    def body(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "message": self.message,
            "documentation_url": self.docs,
            "status": str(self.status),
        }
        if "Location" in self.headers:
            answer["url"] = self.headers["Location"]
        if self.faults:
            answer["errors"] = [
                {"resource": f.resource, "field": f.field, "code": f.code}
                | ({"message": f.message} if f.message else {})
                for f in self.faults
            ]
        return answer


def not_found() -> Refused:
    """There is no such thing, or the caller may not know of it."""
    return Refused(404, "Not Found")


def fault(resource: str, field: str, code: str, message: str = "") -> Refused:
    """The request was understood and asks for something that cannot be."""
    wrong = Fault(resource, field, code, message)
    return Refused(422, "Validation Failed", wrong)


Clock = Callable[[], datetime]


def wall_clock() -> datetime:
    return datetime.now(UTC)  # noqa: TID251  the one place where the forge asks


def iso(moment: datetime) -> str:
    """Write a time the way GitHub's API does: `2026-01-31T12:00:00Z`."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse(text: str) -> datetime:
    """Read an ISO 8601 time, else `ValueError`; one without a zone is taken as UTC."""
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
