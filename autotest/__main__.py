"""`python -m autotest` runs the command `autotest`."""

import sys

from autotest.cli import main

if __name__ == "__main__":
    sys.exit(main())
