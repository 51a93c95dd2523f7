"""Refusals over HTTP: a status and a sentence, in GitHub's form."""

from dataclasses import dataclass
from typing import Any

from brat.forge.wire.urls import DOCS


@dataclass(frozen=True, slots=True)
class Fault:
    """What is wrong with one field of a request."""

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
        """Keep what the answer says."""
        super().__init__(message)
        self.status = status
        self.message = message
        self.faults = faults
        self.headers = headers or {}
        self.docs = docs

    def body(self) -> dict[str, Any]:
        """The answer's body."""
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


def invalid(*faults: Fault) -> Refused:
    """The request was understood and asks for something that cannot be."""
    return Refused(422, "Validation Failed", *faults)


def fault(resource: str, field: str, code: str, message: str = "") -> Refused:
    """`invalid` with one fault."""
    return invalid(Fault(resource, field, code, message))
