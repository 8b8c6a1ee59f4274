"""Replaces OneFlow's own test harness with `autotest.oneflow` when it is imported, also in processes started later.

It is for test files that must not be edited. A ``conftest.py`` beside them imports this module; without one::

    python -m pytest -p autotest.oneflow.drop_in FOLDER
    AUTOTEST_IMPORT=autotest.oneflow.drop_in autotest fuzz FOLDER

It must be imported before such a test file is.
"""

from __future__ import annotations

import os

from autotest.base import options
from autotest.oneflow.framework_pair import flow
from autotest.oneflow.substitution import stand_in

flow()  # such files import OneFlow themselves, in an order that may not find its libraries
stand_in()
# A worker process imports the test's file, but not the conftest.py or the plugin that imported this module.
os.environ["AUTOTEST_IMPORT"] = ",".join(dict.fromkeys((*options.configured_imports(), __name__)))
