"""What lies between two commits, as git writes it: a diff, or a patch a commit.

https://docs.github.com/rest/using-the-rest-api/getting-started-with-the-rest-api#media-types
"""

import asyncio
from typing import Final

from brat.forge.rest.rest_call import Answer, Call
from grite import git

FORMS: Final = ("diff", "patch")


async def change_text(call: Call, base: str | None, head: str) -> Answer:
    """Answer in the form that was asked for, one of FORMS.

    Args:
        call: who asks, and for which form.
        base: an ancestor of `head` that it is compared with; None: what `head` alone
            changed.
        head: the last commit.
    """
    if base is None:
        words = {
            "diff": ["show", "--first-parent", "--find-renames", "--format=", head],
            "patch": ["format-patch", "--stdout", "-1", head],
        }
    else:
        words = {
            "diff": ["diff", "--find-renames", base, head],
            "patch": ["format-patch", "--stdout", f"{base}..{head}"],
        }
    said = await asyncio.to_thread(git.run, words[call.form], cwd=call.bare.path)
    return Answer(said.stdout)
