"""What servers wrote to git's standard output and error when they refused a push.

Gitea's are from a build after 1.25.4 that refused real pushes (protected branches, a
hook of the server, an archived repository). GitHub's lines are those that people quote
in public issues, each named beside it, with other names in them.
"""

from typing import Final

A: Final = "refs/heads/convoy/g/task-1"
B: Final = "refs/heads/main"
WAL: Final = "refs/grite/wal"


def lines(*told: tuple[str, str]) -> str:
    """Git's standard output: for each ref, its refusal."""
    commit = "10b9686bc448cec2993d22ff9341e57ec5e6610d"
    refs = (f"!\t{commit}:{ref}\t[remote rejected] ({why})\n" for ref, why in told)
    return f"To http://127.0.0.1:3300/you/widgets.git\n{''.join(refs)}Done\n"


def remote(*said: str) -> str:
    """Git's standard error: the server's lines, padded as git pads them."""
    told = "".join(f"remote: {line}        \n" for line in said)
    return f"{told}error: failed to push some refs to 'http://127.0.0.1/widgets.git'\n"


DECLINED: Final = "pre-receive hook declined"

GITEA_PROTECTED: Final = remote(
    "", "error:", "error: Not allowed to push to protected branch main", "error:"
)
GITEA_NO_RIGHT: Final = remote("", "error: User permission denied for writing.")
GITEA_HOOK: Final = remote("policy: no pushes today")
GITEA_ARCHIVED: Final = (
    "remote: This repo is archived. You can view files and clone it, but cannot push "
    "or open issues/pull-requests.\n"
    "fatal: unable to access 'http://127.0.0.1:3300/you/widgets.git/': "
    "The requested URL returned error: 403\n"
)
GITEA_NOT_FOUND: Final = (
    "remote: Repository not found\n"
    "fatal: repository 'http://127.0.0.1:3300/you/nope.git/' not found\n"
)

# https://github.com/henne49/dbus-opendtu/issues/235
GITHUB_RULE_REASON: Final = "push declined due to repository rule violations"
GITHUB_RULE: Final = remote(
    "error: GH013: Repository rule violations found for refs/heads/main.",
    "Review all repository rules at "
    "https://github.com/you/widgets/rules?ref=refs%2Fheads%2Fmain",
    "",
    "- Changes must be made through a pull request.",
    "",
)
# https://github.com/palxiao/poster-design/issues/140
GITHUB_SECRET: Final = remote(
    "error: GH013: Repository rule violations found for refs/heads/convoy/g/task-1.",
    "",
    "- GITHUB PUSH PROTECTION",
    "  —————————————————————————————————————————",
    "    Resolve the following violations before pushing again",
    "",
    "    - Push cannot contain secrets",
    "",
    "      —— GitHub Personal Access Token ——————————————————————",
    "       locations:",
    "         - commit: 5477a7dd26384ed3c8b3814ee677f755ad27a597",
    "           path: src/api/github.ts:34",
)
# https://github.com/nextcloud/docker-ci/pull/859
GITHUB_ARCHIVED: Final = (
    "ERROR: This repository was archived so it is read-only.\n"
    "fatal: Could not read from remote repository.\n"
)
