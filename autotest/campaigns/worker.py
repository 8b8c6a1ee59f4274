"""What a worker process does: it says whether it can work, and then runs the tasks that it receives."""

from __future__ import annotations

import contextlib
import os
import socket
import traceback
from multiprocessing.connection import Connection
from pathlib import Path

from autotest.base.errors import AutotestError, FrameworkMissing, UsageError
from autotest.campaigns.executor import MissingFramework
from autotest.campaigns.exploring import run_task
from autotest.campaigns.known_deaths import run_in_fork
from autotest.campaigns.worker_breadcrumbs import breadcrumb_at
from autotest.frameworks import chosen_pair
from autotest.processes.client import Server, ServerLost
from autotest.processes.endings import limit_memory
from autotest.results.tasks import Conditions, Explore, Explored, Result, Task, Undiagnosed
from autotest.sources.pytest_session import sessions_kept


def work(connection: Connection, server: socket.socket, memory: int | None) -> None:
    """Report an error that keeps this worker from working, or "", and then run tasks."""
    trouble = ""
    try:
        pair = chosen_pair()
        pair.load()
        if memory is not None:
            limit_memory(pair, memory)
    except (FrameworkMissing, UsageError) as error:
        trouble = str(error)
    connection.send(trouble)
    with contextlib.closing(Server(inherited=server)) as processes, sessions_kept():
        folder = Path.cwd()
        while True:
            task, conditions, crumb_path = connection.recv()
            os.chdir(folder)  # the test before may have left another one
            connection.send(_result(task, conditions, crumb_path, processes))


def _result(task: Task, conditions: Conditions, crumb_path: Path, processes: Server) -> Result | MissingFramework:
    crumb = breadcrumb_at(crumb_path)
    with contextlib.suppress(OSError):
        os.ftruncate(1, 0)  # empties the log: the output of earlier tasks must not count as last words
    try:
        return run_in_fork(task, conditions, crumb_path) or run_task(task, conditions, crumb, processes)
    except FrameworkMissing as error:
        return MissingFramework(str(error))
    except ServerLost:
        raise  # this process ends with its server, and the task is started again
    except (Exception, SystemExit) as error:  # noqa: BLE001 - any error ends only this task
        if isinstance(task, Explore):
            # For example, a test file was changed meanwhile. Other tests can continue.
            return Explored(broken=_error_message(error))
        return Undiagnosed(f"{type(error).__name__}: {error}")
    finally:
        if crumb is not None:
            crumb.close()


def _error_message(error: BaseException) -> str:
    if isinstance(error, AutotestError):
        return str(error)
    return "\n".join("".join(traceback.format_exception(error)).strip().splitlines()[-12:])
