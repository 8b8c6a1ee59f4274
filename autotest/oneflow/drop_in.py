"""Puts `autotest.oneflow` in the place of OneFlow's own harness when it is imported, and in processes started later.

For test files that nobody may edit. A ``conftest.py`` beside them imports this file; without one::

    python -m pytest -p autotest.oneflow.drop_in FOLDER
    AUTOTEST_IMPORT=autotest.oneflow.drop_in autotest fuzz FOLDER

It must be imported before such a test file is.
"""

from __future__ import annotations

import os

from autotest.base import options
from autotest.oneflow.framework_pair import flow
from autotest.oneflow.substitution import stand_in

flow()  # which such files import themselves, in an order that may not find its libraries
stand_in()
# A worker process imports the test's file, and nothing that stood around it.
os.environ["AUTOTEST_IMPORT"] = ",".join(dict.fromkeys((*options.imports(), __name__)))
