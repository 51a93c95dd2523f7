"""What a request's headers ask for: a version of the API, and a form of the answer.

https://docs.github.com/rest/about-the-rest-api/api-versions
https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from aiohttp import hdrs

from brat.forge.wire.http_refusals import Refused

VERSION: Final = "2022-11-28"
_ASKED: Final = "X-GitHub-Api-Version"
_SERVED: Final = re.compile(
    r"\*/\*|application/(\*|json|vnd\.github(\.v3)?(\.[a-z-]+-preview)?(\+json)?)"
)
"""Plain JSON, which every endpoint has; GitHub has rendered text besides."""
_FORM: Final = re.compile(r"application/vnd\.github(?:\.v3)?\.([a-z]+)(?:\+json)?")
JSON: Final = "json"
SERVED_HEADERS: Final = {
    "X-GitHub-Api-Version-Selected": VERSION,
    "X-GitHub-Media-Type": "github.v3; format=json",
}


def negotiate(headers: Mapping[str, str], more: Sequence[str] = ()) -> str:
    """Return the form to answer in: `json`, or one of `more`.

    Args:
        headers: the request's.
        more: what the endpoint has beside JSON, such as `diff`.

    Raises:
        Refused: 400 or 415, as GitHub words it.
    """
    version = headers.get(_ASKED, VERSION)
    if version != VERSION:
        raise Refused(
            400,
            'The version you specified in the "X-GitHub-API-Version" request header, '
            f'"{version}", is not a supported version. The following versions are '
            f'currently supported: "{VERSION}" (most recent).',
        )
    accepted = headers.get(hdrs.ACCEPT, "*/*")
    for form in (one.partition(";")[0].strip() for one in accepted.split(",")):
        if _SERVED.fullmatch(form):
            return JSON
        asked = _FORM.fullmatch(form)
        if asked and asked[1] in more:
            return asked[1]
    said = f"Unsupported 'Accept' header: '{accepted}'. Must accept "
    raise Refused(415, said + "'application/json'.")
