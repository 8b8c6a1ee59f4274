"""Whoever imports this file, and the processes that it starts, import `autotest.oneflow` as OneFlow's own harness.

For test files that nobody may edit. A ``conftest.py`` beside them imports this file; without one::

    python -m pytest -p autotest.oneflow.instead FOLDER
    AUTOTEST_IMPORT=autotest.oneflow.instead autotest fuzz FOLDER

Stands alone because it does so when imported. Must be imported before such a test file is.
"""

from __future__ import annotations

import os

from autotest.base import options
from autotest.oneflow.frameworks_here import flow
from autotest.oneflow.substitution import stand_in

flow()  # which such files import themselves, in an order that may not find its libraries
stand_in()
# A worker process imports the test's file, and nothing that stood around it.
os.environ["AUTOTEST_IMPORT"] = ",".join(dict.fromkeys((*options.imports(), __name__)))
