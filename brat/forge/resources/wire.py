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


class Refused(Exception):
    """The request is answered with an error; nothing was changed."""

    def __init__(
        self, status: int, message: str, *, headers: dict[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = headers or {}
        self.fault: dict[str, str] = {}

    def body(self) -> dict[str, Any]:
        answer: dict[str, Any] = {
            "message": self.message,
            "documentation_url": DOCS,
            "status": str(self.status),
        }
        if "Location" in self.headers:
            answer["url"] = self.headers["Location"]
        if self.fault:
            answer["errors"] = [self.fault]
        return answer


def not_found() -> Refused:
    """There is no such thing, or the caller may not know of it."""
    return Refused(404, "Not Found")


def fault(resource: str, field: str, code: str, message: str = "") -> Refused:
    """What one field of the request asks for cannot be.

    The code is GitHub's: missing, missing_field, invalid, already_exists, custom.
    """
    refused = Refused(422, "Validation Failed")
    refused.fault = {"resource": resource, "field": field, "code": code}
    if message:
        refused.fault["message"] = message
    return refused


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
