"""`python -I -m tests.world.github_forge --dir DIR`: the forge with all of GitHub."""

import sys

from brat.forge.__main__ import main
from tests.world.github_forge.extension import github

if __name__ == "__main__":
    sys.exit(main(github))
