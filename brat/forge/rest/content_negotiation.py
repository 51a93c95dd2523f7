"""What a request's headers ask for: a version of the API, and a form of the answer.

https://docs.github.com/rest/about-the-rest-api/api-versions
https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types
"""

import re
from collections.abc import Mapping
from typing import Final

from aiohttp import hdrs

from brat.forge.wire.http_refusals import Refused

VERSION: Final = "2022-11-28"
_ASKED: Final = "X-GitHub-Api-Version"
_SERVED: Final = re.compile(
    r"\*/\*|application/(\*|json|vnd\.github(\.v3)?(\.[a-z-]+-preview)?(\+json)?)"
)
"""Plain JSON; GitHub has diffs, patches, raw files and rendered text besides."""
SERVED_HEADERS: Final = {
    "X-GitHub-Api-Version-Selected": VERSION,
    "X-GitHub-Media-Type": "github.v3; format=json",
}


def negotiate(headers: Mapping[str, str]) -> None:
    """Check that the forge can answer in the version and form that are asked for.

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
    forms = (one.partition(";")[0].strip() for one in accepted.split(","))
    if not any(map(_SERVED.fullmatch, forms)):
        said = f"Unsupported 'Accept' header: '{accepted}'. Must accept "
        raise Refused(415, said + "'application/json'.")
