"""Addresses on the forge of what the bot's texts name. Pure."""

from convoy.model.state import Convoy


def comment_url(convoy: Convoy, web: str) -> str:
    """Return the address of a convoy's comment, or of its issue before there is one.

    Args:
        convoy: the convoy.
        web: the repository's address for people.
    """
    said = f"#issuecomment-{convoy.comment}" if convoy.comment else ""
    return f"{web}/issues/{convoy.issue}{said}"


def run_url(run: int, web: str) -> str:
    """Return the address of a workflow run, such as a session's."""
    return f"{web}/actions/runs/{run}"


def checks_url(commit: str, web: str) -> str:
    """Return the address of all checks of a commit."""
    return f"{web}/commit/{commit}/checks"
