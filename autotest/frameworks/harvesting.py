"""Records the calls of torch that a part of a program makes, in this process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from autotest.base.environment import variables
from autotest.base.errors import UsageError

#: With these, `torch.compile` leaves functions as they are, so that what they call is seen.
_UNCOMPILED = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1"}


@contextlib.contextmanager
def harvest(path: str | Path, *, limit: int = 100) -> Iterator[None]:
    """Write the distinct public calls of torch that are made inside of the block into the file `path`.

    `autotest sweep --calls PATH` judges them. What was recorded is kept however the block ends. Calls are distinct by
    name, form and arguments: of tensors by dtype, shape, strides and requires_grad. `torch.compile` compiles nothing
    meanwhile.

    Args:
        path: where to; what is there is overwritten.
        limit: how many distinct calls of one name are kept.

    Raises:
        UsageError: the file cannot be written, or there is no torch.
    """
    try:
        from autotest.frameworks.harvester.call_recorder import CallRecorder
        from autotest.frameworks.harvester.calls_file import CallsFile
    except ImportError as error:
        raise UsageError(f"nothing can be harvested without torch ({error}); `pip install torch` brings it") from error
    begin(path)
    file = CallsFile(os.fspath(Path(path).absolute()))
    recorder = CallRecorder(file, limit)
    with _nothing_compiled():
        recorder.start()
        try:
            yield
        finally:
            recorder.stop()
            file.close()


@contextlib.contextmanager
def _nothing_compiled() -> Iterator[None]:
    """Let functions run as they were written, which `torch.compile` makes others of, or has made before."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    compiles = "torch._dynamo" in sys.modules and hasattr(compiler, "set_stance")
    eager = compiler.set_stance("force_eager") if compiler and compiles else contextlib.nullcontext()
    with variables(_UNCOMPILED), eager:
        yield


def begin(path: str | Path) -> None:
    """Make `path` an empty file; raises `UsageError`."""
    try:
        Path(path).write_bytes(b"")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def environment(path: Path, limit: int | None = None) -> dict[str, str]:
    """The variables with which an interpreter records what it does with torch into `path`."""
    folder = str(Path(__file__).parent / "harvester" / "injected")
    found = {
        **os.environ,
        **_UNCOMPILED,
        "AUTOTEST_HARVEST": str(path.absolute()),
        "PYTHONPATH": os.pathsep.join(filter(None, [folder, os.environ.get("PYTHONPATH")])),
    }
    if limit is not None:
        found["AUTOTEST_HARVEST_LIMIT"] = str(limit)
    return found
