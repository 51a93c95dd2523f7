"""The hosts that a project's setup script may reach: pure.

The script of a base commit may run what an agent wrote there, so it gets a list of its
own, and neither the model's key nor the proxy that holds it.
"""

from typing import TYPE_CHECKING, Final

from runner.proxy.egress_hosts import reachable

if TYPE_CHECKING:
    from convoy.events.session_events import TaskStarted

REGISTRIES: Final = (
    *("pypi.org", "files.pythonhosted.org", "conda.anaconda.org"),
    *("registry.npmjs.org", "registry.yarnpkg.com", "npm.jsr.io", "nodejs.org"),
    *("index.crates.io", "static.crates.io", "static.rust-lang.org"),
    *("proxy.golang.org", "sum.golang.org", "go.dev", "dl.google.com"),
    *("rubygems.org", "index.rubygems.org", "repo.packagist.org", "repo.hex.pm"),
    *("repo.maven.apache.org", "repo1.maven.org", "plugins.gradle.org"),
    *("services.gradle.org", "api.nuget.org"),
    *("github.com", "codeload.github.com", "raw.githubusercontent.com"),
    *("objects.githubusercontent.com", "release-assets.githubusercontent.com"),
)
"""Where the usual installers of packages and tools look."""


def setup_hosts(
    started: "TaskStarted", agents: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the only hosts that the script may reach; None: all.

    Args:
        started: the attempt.
        agents: the only hosts that its agent may reach; None: all.
    """
    if started.setup_hosts is not None or agents is None:
        return reachable(started.setup_hosts, by_default=True)
    return tuple(dict.fromkeys((*agents, *REGISTRIES)))
