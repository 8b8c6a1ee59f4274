"""Carries out the tasks of a campaign in worker processes, each of which may die."""

from __future__ import annotations

import concurrent.futures
import contextlib
import ctypes
import multiprocessing
import os
import resource
import shutil
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from autotest.base.errors import AutotestError, FrameworkMissing, UsageError
from autotest.campaigns.exploring import perform
from autotest.frameworks import chosen
from autotest.processes import breadcrumb
from autotest.processes.endings import describe, last_words, limit_memory
from autotest.results.tasks import Conditions, Death, DiagnoseDeath, Explore, Explored, Result, Task

#: Seconds that a worker may need to import the frameworks and the tests, on a busy machine.
START_UP = 120.0
#: Seconds for understanding one finding, besides shrinking: the referee, tracing, and running its reproducer; and
#: for one that does not happen every time, which is tried often.
DIAGNOSIS, OFTEN = 100.0, 180.0
#: Seconds after which a campaign's folder belongs to nobody any more. Workers that are started or lost touch theirs.
_STALE = 7 * 24 * 3600
_SIGNAL_ON_PARENTS_DEATH = 1  # PR_SET_PDEATHSIG of prctl(2)


class Workers:
    """A pool of worker processes. `slots` tasks at a time, each known by a number below that."""

    def __init__(self, conditions: Conditions, jobs: int) -> None:
        self.slots = jobs
        self._conditions = conditions
        self._folder = breadcrumb.folder(conditions.directory.absolute()) / f"campaign-{os.getpid()}"
        self._running: dict[Any, tuple[Task, int, float]] = {}
        self._pool: Any = None

    def prepare(self) -> None:
        """Start the workers, and wait until one of them has the frameworks; raises `FrameworkMissing`."""
        self._folder.mkdir(parents=True, exist_ok=True)
        _forget_killed(self._folder.parent)
        self._pool = self._new_pool()
        future = self._pool.schedule(_ready, timeout=START_UP)
        trouble = future.result()
        if trouble:
            raise FrameworkMissing(trouble)

    def _new_pool(self) -> Any:
        from pebble import ProcessPool

        # Forked from a server that has no threads and no candidate yet, but torch, whose import takes seconds.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["autotest.campaigns.forkserver_preload"])
        return ProcessPool(
            max_workers=self.slots,
            context=context,
            initializer=_start_worker,
            # The server keeps the environment that it was started in.
            initargs=(self._folder.absolute(), self._conditions.memory, dict(os.environ), Path.cwd()),
        )

    def start(self, task: Task) -> None:
        slot = min(set(range(self.slots)) - {slot for _, slot, _ in self._running.values()})
        if isinstance(task, Explore):
            seconds = self._conditions.deadline + task.seconds
        else:
            seconds = DIAGNOSIS + 4 * self._conditions.shrink + OFTEN * isinstance(task, DiagnoseDeath)
        # A worker's first task also imports the test file; none that explores takes longer than its trials.
        future = self._pool.schedule(_work, args=(task, self._conditions, self._crumb(slot)), timeout=seconds)
        self._running[future] = (task, slot, time.monotonic() + seconds + START_UP)

    def wait(self, seconds: float) -> Sequence[tuple[Task, Result]]:
        done, _ = concurrent.futures.wait(
            self._running, timeout=seconds, return_when=concurrent.futures.FIRST_COMPLETED
        )
        finished: list[tuple[Task, Result]] = []
        for future in done:
            task, slot, _ = self._running.pop(future)
            finished.append((task, self._result(future, task, slot)))
        if any(overdue < time.monotonic() for _, _, overdue in self._running.values()) or not self._pool.active:
            finished += self._rebuild()
        return finished

    def _result(self, future: Any, task: Task, slot: int) -> Result:
        from pebble import ProcessExpired

        try:
            result: Result = future.result()
        except concurrent.futures.TimeoutError:
            return self._death("hang", f"no answer in {self._conditions.deadline:g} s", slot)
        except ProcessExpired as error:
            how = describe(error.exitcode)
            # Nobody here sends SIGKILL to a worker that is within its time: that is the kernel, short of memory.
            return self._death("out of memory" if how == "SIGKILL" else "crash", how, slot)
        except (concurrent.futures.CancelledError, concurrent.futures.process.BrokenProcessPool):
            return self._death("", "the pool of workers broke", slot)
        except FrameworkMissing:
            raise
        except Exception as error:  # noqa: BLE001 - whatever it is, it is one task's
            if isinstance(task, Explore):
                # Such as a test file that was changed meanwhile: other tests can go on.
                return Explored(broken=_remote(error))
            # What was found is kept already; that it could not be understood must not end the campaign.
            return Death("", f"{type(error).__name__}: {error}", "", None, "", "")
        return result

    def _death(self, symptom: str, how: str, slot: int) -> Death:
        path = self._crumb(slot)
        position = breadcrumb.read(path)
        path.unlink(missing_ok=True)
        words = ""
        if position is not None:
            log = self._folder / f"{position.pid}.log"
            with contextlib.suppress(OSError):
                words = last_words(log.read_text(errors="replace"))
                log.unlink()
        if position is None or position.index < 0:
            return Death(symptom, how, words, None, "", "")
        mode, back = position.settings.get("graph", ("", 0))
        if mode:  # which call it was is not known there
            return Death(symptom, how, words, position.index, mode, "replay", back=back)
        return Death(
            symptom,
            how,
            words,
            position.index,
            position.operator,
            position.stage,
            position.side,
            position.refused,
        )

    def _rebuild(self) -> list[tuple[Task, Result]]:
        """Give up on the pool: a worker died in a way that leaves its fellows waiting for ever."""
        lost: list[tuple[Task, Result]]
        lost = [(task, self._death("", "the pool of workers broke", slot)) for task, slot, _ in self._running.values()]
        self._running.clear()
        self._stop()
        self._pool = self._new_pool()
        return lost

    def _crumb(self, slot: int) -> Path:
        return self._folder / f"{slot}.crumb"

    def _stop(self) -> None:
        if self._pool is not None:
            with contextlib.suppress(Exception):
                self._pool.stop()
                self._pool.join(timeout=10)

    def close(self) -> None:
        """End all workers, at once, whatever they are doing."""
        self._stop()
        self._running.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


def _forget_killed(trails: Path) -> None:
    """Remove what campaigns left that were killed; another machine may share the folder, so not at once."""
    for folder in trails.glob("campaign-*"):
        with contextlib.suppress(OSError):
            if time.time() - folder.stat().st_mtime > _STALE:
                shutil.rmtree(folder, ignore_errors=True)


def default_jobs() -> int:
    """As many workers as there are processors for, up to eight."""
    return max(1, min(8, len(os.sched_getaffinity(0))))


def available() -> None:
    """Raises `UsageError` when what worker processes need is not installed."""
    try:
        import pebble  # noqa: F401
    except ImportError as error:
        raise UsageError(
            f"worker processes need the package pebble ({error}); install dual-autotest[fuzz], or give --jobs 0 to run "
            "trials in this process"
        ) from error


def _remote(error: Exception) -> str:
    """What went wrong in a worker, with the traceback that it had there."""
    if isinstance(error, AutotestError):
        return str(error)
    return "\n".join(str(error.__cause__ or error).strip().strip('"').splitlines()[-12:])


# -- in the worker ------------------------------------------------------------------------------------------


def _start_worker(folder: Path, memory: int | None, environment: dict[str, str], place: Path) -> None:
    """Prepare a new worker: it dies with the campaign, keeps the terminal clean, and has the frameworks."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # A picture of so much memory takes seconds to write; the reproducer makes one where it is wanted.
    resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
    # The server that it was forked from ends with the campaign.
    ctypes.CDLL(None).prctl(_SIGNAL_ON_PARENTS_DEATH, signal.SIGKILL, 0, 0, 0)
    parent = multiprocessing.parent_process()
    if parent is None or not parent.is_alive():
        os._exit(0)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(place)
    log = os.open(folder / f"{os.getpid()}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(log, 1)
    os.dup2(log, 2)
    sys.stdout = open(1, "w", buffering=1, closefd=False)  # noqa: SIM115 - lives as long as the worker
    with contextlib.suppress(FrameworkMissing, UsageError):  # which `_ready` reports
        pair = chosen()
        if memory is not None:
            limit_memory(pair, memory)


def _ready() -> str:
    """What keeps this worker from working."""
    try:
        pair = chosen()
        for side in (pair.reference, pair.candidate):
            side.version  # noqa: B018 - reading it imports
    except (FrameworkMissing, UsageError) as error:
        return str(error)
    return ""


def _work(task: Task, conditions: Conditions, crumb: Path) -> Result:
    trail = breadcrumb.Breadcrumb(crumb)
    with contextlib.suppress(OSError):
        os.ftruncate(1, 0)  # the log: what was said in earlier tasks are nobody's last words
    try:
        return perform(task, conditions, trail)
    finally:
        trail.close()


__all__ = ["Workers", "available", "default_jobs"]
