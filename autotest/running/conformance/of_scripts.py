"""Requirements on what reproducers do with a framework: import it, and call it in its own terms."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from autotest.comparison.rejection import first_line
from autotest.emission.native_script import NativeCode
from autotest.frameworks import Absent, Framework
from autotest.program import Array, Call, Captured, Program, Ref
from autotest.replaying.native_code import as_native_code
from autotest.running.conformance.tools import ConformanceError, need, same, tensor_of_dtype
from generators.dtypes import DTYPES, numpy_dtype

_SQUARE: Final = Program(
    (
        Call("tensor", "float32", (Captured(0),), {"requires_grad": True, "device": "cpu"}, 0),
        Call("operator", "mul", (Ref(0), Ref(0)), {}, 1),
        Call("tensor", "float32", (Captured(1),), {"requires_grad": False, "device": "cpu"}, 2),
        Call("method", "backward", (Ref(1), Ref(2)), {}, 3),
    ),
    (Array(np.array([2.0, 3.0], "float32"), "float32"), Array(np.array([1.0, 10.0], "float32"), "float32")),
)


def checks() -> Iterator[tuple[str, Callable[[Framework], None]]]:
    """Yield each check with its name."""
    yield "a reproducer in its own terms reads results", _read
    yield "a reproducer in its own terms reads dtypes", _dtypes_read
    yield "a reproducer in its own terms reads gradients", _gradients_read
    # The last one, because it may change what calls in this process do.
    yield "a reproducer can import the framework", _imported


def _imported(framework: Framework) -> None:
    script, scope = framework.script(), dict[str, Any]()
    exec("\n".join(script.lines), scope)  # noqa: S102 - as a reproducer does
    namespace = eval(script.namespace, scope)  # noqa: S307
    made = namespace.exp(namespace.tensor(np.array([0.0, 1.0], "float32"), dtype=namespace.float32)).tolist()
    same(np.array(made), np.exp([0.0, 1.0]), "exp in a reproducer")


def _read(framework: Framework) -> None:
    code = as_native_code(_SQUARE, framework, 1)
    if code is not None:  # reproducers of others import the adapter, or use torch's names
        same(np.array(_shown(code, "value")), [4, 9], "x * x in a reproducer, for x = [2, 3]")


def _dtypes_read(framework: Framework) -> None:
    for dtype in DTYPES:
        array = Array(np.ones(2, numpy_dtype(dtype)), dtype)
        with contextlib.suppress(Absent):
            tensor_of_dtype(framework, array)
            program = Program((_SQUARE.calls[0]._replace(target=dtype),), (array,))
            code = as_native_code(program, framework, 0)
            found = dtype if code is None else _shown(code, "dtype")
            need(found == dtype, f"a reproducer reads the dtype of a tensor of {dtype}: got {found!r}")


def _gradients_read(framework: Framework) -> None:
    code = as_native_code(_SQUARE, framework, 0, ".grad") if framework.has_gradients else None
    if code is not None:
        same(np.array(_shown(code, "gradient")), [4, 60], "the gradient of x * x in a reproducer, for x = [2, 3]")


def _shown(code: NativeCode, symptom: str) -> Any:
    """Return what a reproducer reads of the result of `code`."""
    scope: dict[str, Any] = {"np": np}
    try:
        exec("\n".join([code.imports, *code.lines]), scope)  # noqa: S102 - as a reproducer does
    except Exception as error:
        raise ConformanceError(
            f"a reproducer's lines raise {type(error).__name__}: {first_line(error)} ({code.lines[-1]}); of gradients, "
            "the adapter's `gradient_lines` are such lines, and `forward` returns the output or a list of several"
        ) from error
    try:
        return eval(code.fact(symptom), scope)  # noqa: S307
    except Exception as error:
        raise ConformanceError(
            f"a reproducer reads {code.fact(symptom)}, which raises {type(error).__name__}: {first_line(error)}; "
            "the adapter's `list_text` and `dtype_text` say how arrays are read there"
        ) from error
