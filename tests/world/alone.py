"""A user of a process's own, that may do nothing and sees nobody: as in a container."""

ALONE = (
    *("unshare", "--user", "--map-user=1001", "--map-group=1001"),
    *("--pid", "--fork", "--kill-child", "--mount-proc"),
)
"""Goes before a command line. Its files stay those of who calls it."""
