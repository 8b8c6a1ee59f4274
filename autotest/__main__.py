"""`python -m autotest`: the same as the command `autotest`."""

import sys

from autotest.cli import main

if __name__ == "__main__":
    sys.exit(main())
