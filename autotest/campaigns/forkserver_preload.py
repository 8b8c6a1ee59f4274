"""What every worker process has from the start: imported once, by the server that workers are forked from.

Importing this file is all there is to it. torch takes most of the seconds that a new worker needs; after a crash they
would be seconds without a trial. The candidate is left to each worker: OneFlow starts threads when it is imported,
and threads do not survive a fork.
"""

from __future__ import annotations

import contextlib
import signal

signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C goes to every process of a terminal, and is the campaign's

from autotest.campaigns import exploring  # noqa: E402, F401 - with all that it needs
from autotest.frameworks import chosen  # noqa: E402

with contextlib.suppress(Exception):  # a worker says what is wrong, where somebody listens
    reference = chosen().reference
    if reference.name == "torch":
        reference.version  # noqa: B018 - reading it imports
