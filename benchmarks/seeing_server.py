"""A dashboard in a process of its own: `python -m benchmarks.seeing_server LOG BRAT`.

Prints its address, and ends with its standard input.
"""

import asyncio
import sys
from pathlib import Path

from brat.status import dashboard_server as dashboards


async def main(log: Path, folder: Path) -> None:
    """Serve the log, with what sessions print in brat's folder."""
    async with dashboards.over(log, "pat/project", 0, folder=folder) as url:
        sys.stdout.write(f"{url}\n")
        sys.stdout.flush()
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
