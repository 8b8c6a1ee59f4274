"""Tells an adapter that cannot read its framework's tensors from a call whose result cannot be read."""

from __future__ import annotations

import traceback

import numpy as np

from autotest.base.errors import AdapterWrong
from autotest.comparison.rejection import first_line
from autotest.frameworks import Framework
from autotest.program import Array

#: What Python raises if an adapter expects other attributes and methods than its framework's tensors have. A failed
#: call of an asynchronous framework raises other exceptions, and some raise these again whatever is read next.
_MISTAKES = (AttributeError, NameError, TypeError)


def blame_adapter(framework: Framework, error: Exception) -> None:
    """Raise `AdapterWrong` if `error`, raised when a result was read, is raised for a tensor that no call made, too."""
    if not isinstance(error, _MISTAKES):
        return
    try:
        made = framework.tensor(Array(np.zeros(1, np.float32), "float32"))
        framework.values([made])
        framework.holds_gradient(made)
    except Exception as again:  # noqa: BLE001 - whatever the adapter raises
        if (type(again), str(again)) == (type(error), str(error)):
            raise AdapterWrong(
                f"the adapter of {framework.name}: a tensor that no call has made cannot be read: "
                f"{type(error).__name__}: {first_line(error)} ({_method(framework, again)}); override this method, "
                "and check the adapter with `autotest conformance`"
            ) from error


def _method(framework: Framework, error: Exception) -> str:
    """Return the innermost method of `framework` that `error` came through, with its file and line."""
    frames = [*traceback.walk_tb(error.__traceback__)]
    own = [(frame, line) for frame, line in frames if frame.f_locals.get("self") is framework]
    frame, line = (own or frames)[-1]
    return f"in `{frame.f_code.co_name}`, {frame.f_code.co_filename}, line {line}"
