"""Records the torch calls that a part of a program makes in this process."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from autotest.base.environment import variables
from autotest.base.errors import UsageError

#: Environment variables with which `torch.compile` leaves functions unchanged, so that their torch calls are recorded.
_UNCOMPILED = {"TORCHDYNAMO_DISABLE": "1", "TORCH_COMPILE_DISABLE": "1"}


@contextlib.contextmanager
def harvest(path: str | Path, *, limit: int = 100) -> Iterator[None]:
    """Write the distinct public torch calls that are made inside the block to the file `path`.

    `autotest sweep --calls PATH` judges them. The calls recorded so far are kept even if the block raises. Two calls
    are distinct if their names, forms or arguments differ; tensors are compared by dtype, shape, strides and
    requires_grad. Inside the block `torch.compile` compiles nothing.

    Args:
        path: the file to write; an existing file is overwritten.
        limit: maximum number of distinct calls that are kept for one name.

    Raises:
        UsageError: if the file cannot be written, or torch is not installed.
    """
    try:
        from autotest.frameworks.harvester.call_recorder import CallRecorder
        from autotest.frameworks.harvester.calls_file import CallsFile
    except ImportError as error:
        raise UsageError(f"harvesting needs torch ({error}); install it with `pip install torch`") from error
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
    """Run functions as they were written, even those that `torch.compile` compiles now or has compiled before."""
    compiler = getattr(sys.modules.get("torch"), "compiler", None)
    compiles = "torch._dynamo" in sys.modules
    has_stance = compiles and hasattr(compiler, "set_stance")
    eager = compiler.set_stance("force_eager") if compiler and has_stance else contextlib.nullcontext()
    try:
        with variables(_UNCOMPILED), eager:
            yield
    finally:
        if not compiles and "torch._dynamo" in sys.modules:  # it read the variable when it was imported, in the block
            sys.modules["torch._dynamo"].config.disable = os.environ.get("TORCH_COMPILE_DISABLE", "0") == "1"


def begin(path: str | Path) -> None:
    """Create the empty file `path`, or truncate it; raise `UsageError` if it cannot be written."""
    try:
        Path(path).write_bytes(b"")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error.strerror}") from error


def environment(path: Path, limit: int | None = None) -> dict[str, str]:
    """Return the environment with which a Python interpreter records its torch calls to the file `path`.

    Args:
        path: the file to write.
        limit: maximum number of distinct calls that are kept for one name; None for the default.
    """
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
