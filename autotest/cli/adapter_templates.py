"""The texts of the files that `autotest adapter new` writes."""

from __future__ import annotations

from typing import Final

#: For a framework with the same names as torch.
NAMESPACE: Final = '''\
"""The adapter of {name}."""

from __future__ import annotations

from autotest.frameworks import Namespace


class {title}(Namespace):
    """{name}, whose names are torch's.

    Override what differs: from_numpy, to_numpy, seed, synchronize, literal, resolve, operation. For a framework of
    functions on immutable arrays, start with `autotest adapter new {name} --functions` instead, and for functions of
    NumPy's arrays with backward functions written by hand with `--kernels`. For a library of operators on torch's own
    tensors, use `autotest.frameworks.kernels.Kernels` instead.
    """

    #: A missing name counts as absent, not as a finding. Remove this line if it claims to have all of torch's names.
    translates = True
    #: Write False if {name} has no autograd: only results are compared then.
    has_gradients = True


def factory() -> {title}:
    return {title}("{name}", module="{name}")
'''

#: For a framework of functions on immutable arrays.
FUNCTIONS: Final = '''\
"""The adapter of {name}."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from autotest.frameworks.functional import Functional


class {title}(Functional):
    """{name}: functions on immutable arrays. The code below uses NumPy's names: correct it.

    `Functional` provides torch's tensors with their methods, operators, views and in-place calls.
    """

    module = "{name}"
    #: The dtypes of torch that it supports.
    dtypes = ("float32", "float64", "int64", "bool")
    #: For scripts that need {name} only: its name there, and the lines that compute gradients of ``forward``, which
    #: takes the leaves and returns the output, or a list of several. Without them, scripts import this adapter, and
    #: with it this library.
    short = "{name}"
    gradient_lines = ("({{gradients}}) = {name}.vjp(forward, [{{leaves}}], [{{cotangents}}])",)
    #: How scripts read an array as a list, and the name of its dtype.
    list_text = "{{}}.tolist()"
    dtype_text = "str({{}}.dtype)"

    def __init__(self) -> None:
        super().__init__("{name}", "{name}_adapter:factory")

    def array_types(self) -> tuple[type, ...]:
        """Return the classes of its arrays."""
        return self.root.ndarray, np.generic

    def array(self, data: np.ndarray[Any, Any], dtype: str) -> Any:
        """Return an array with a copy of `data`."""
        return self.root.array(data, dtype=dtype)

    def numpy(self, array: Any) -> np.ndarray[Any, Any]:
        return np.array(array)

    def dtype_of_array(self, array: Any) -> str:
        """Return torch's name of the dtype, such as "float32"."""
        return str(array.dtype)

    def cast(self, array: Any, dtype: str) -> Any:
        return array.astype(dtype)

    def take(self, flat: Any, places: np.ndarray[Any, Any]) -> Any:
        """Return the elements of a one-dimensional array at `places`, in the shape of `places`."""
        return self.root.take(flat, places)

    def vjp(self, function: Callable[..., list[Any]], arrays: list[Any], cotangents: list[Any]) -> list[Any]:
        """Return the gradients of `arrays` for the `cotangents` of the results of `function(*arrays)`, a list.

        It raises `autotest.frameworks.Absent` for a gradient that {name} does not have. Delete this method if there are
        none at all: only results are compared then. If {name} has backward functions, derive the class from
        `autotest.frameworks.hand_written.HandWritten` instead, and name them in `backward`; for functions of NumPy's
        arrays, `autotest adapter new {name} --kernels` writes less.
        """
        raise NotImplementedError("define how {name} differentiates")

    @functools.cached_property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        """Map torch's names to functions of arrays with torch's parameter names.

        Several results are a tuple of arrays. `nn.Conv1d` gives tuples for sizes, such as ``stride=(1,)``.
        """
        own = self.root
        return {{
            "add": lambda input, other: own.add(input, other),
            "sub": lambda input, other: own.subtract(input, other),
            "mul": lambda input, other: own.multiply(input, other),
            "div": lambda input, other: own.divide(input, other),
            "exp": lambda input: own.exp(input),
            "matmul": lambda input, other: own.matmul(input, other),
            "sum": lambda input, dim=None, keepdim=False: own.sum(input, axis=dim, keepdims=keepdim),
            "transpose": lambda input, dim0, dim1: own.swapaxes(input, dim0, dim1),
            # Trials draw strided inputs, as views that need `reshape`, and expanded ones and expanded gradients.
            "reshape": lambda input, *shape: own.reshape(input, shape[0] if len(shape) == 1 else shape),
            "expand": lambda input, *size: own.broadcast_to(input, size[0] if len(size) == 1 else size),
        }}


def factory() -> {title}:
    return {title}()
'''

#: For functions of NumPy's arrays with backward functions written by hand.
KERNELS: Final = '''\
"""The adapter of {name}."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from autotest.frameworks.hand_written import Backward
from autotest.frameworks.numpy_kernels import NumpyKernels


class {title}(NumpyKernels):
    """{name}: functions of NumPy's arrays, and their backward functions. The names below are examples: correct them.

    Tests call torch's operators of these names. Call {name} as `self.root`, so that scripts call it by its own names.
    """

    module = "{name}"

    def __init__(self) -> None:
        super().__init__("{name}", "{name}_adapter:factory")

    @functools.cached_property
    def spelling(self) -> Mapping[str, Callable[..., Any]]:
        """Map torch's names to functions of arrays with torch's parameter names.

        A function that raises `autotest.frameworks.Absent` says what {name} does not have, which is no finding.
        `nn.Conv1d` gives tuples for sizes, such as ``stride=(1,)``.
        """
        own = self.root
        return {{
            "relu": lambda input: own.relu(input),
            "softmax": lambda input, dim: own.softmax(input, axis=dim),
        }}

    @functools.cached_property
    def backward(self) -> Mapping[str, Backward]:
        """Map the same names to functions of the result's gradient, the result and the arguments.

        They return the gradients of the arguments in their order, None for one that has none. What a forward function
        keeps for its backward function has to be computed again.
        """
        own = self.root
        return {{
            "relu": lambda gradient, result, input: own.relu_backward(gradient, input),
            "softmax": lambda gradient, result, input, dim: own.softmax_backward(gradient, result, axis=dim),
        }}


def factory() -> {title}:
    return {title}()
'''
