"""Operators that are wrong for flags that a test may leave out together, for equal sizes, or for long rows of a second.

Two of them are wrong for a column beside long rows, and one for the gradient that a sum of all elements pushes back.
"""

from __future__ import annotations

from typing import Any

from autotest import nothing, random, random_bool, random_tensor, torch
from tests.wrong_operators.broadcasts import where_shapes
from tests.wrong_operators.numbers import one, two
from tests.wrong_operators.reported import plain
from tests.wrong_operators.seldom import called
from tests.wrong_operators.wrong import Replacement, Wrong, of_first, off, repeats, through


def module(is_wrong: Any) -> Replacement:
    """Return a class of modules whose result, or the first of its results, is wrong if ``is_wrong(module)``."""

    def replacement(original: Any) -> Any:
        class Changed(original):  # type: ignore[misc]
            def forward(self, *args: Any) -> Any:
                result = super().forward(*args)
                if not is_wrong(self):
                    return result
                return (off(result[0]), *result[1:]) if isinstance(result, tuple) else off(result)

        return Changed

    return replacement


def is_square_and_transposed(x: Any) -> bool:
    return x.shape[-1] == x.shape[-2] > 1 and not x.is_contiguous() and x.mT.is_contiguous()


def is_spread(gradient: Any) -> bool:
    return repeats(gradient) and not any(gradient.stride())


def lstm() -> Any:
    flags = {name: random_bool() | nothing() for name in ("bias", "batch_first", "bidirectional")}
    m = torch.nn.LSTM(3, 4, num_layers=random(1, 3) | nothing(), **flags)
    return m(random_tensor(ndim=3, dim2=3, dtype="float32"))


def max_pool() -> Any:
    stride, padding = random(1, 4) | nothing(), random(0, 2) | nothing()
    flags = {name: random_bool() | nothing() for name in ("ceil_mode", "return_indices")}
    m = torch.nn.MaxPool1d(random(1, 4), stride=stride, padding=padding, **flags)
    return m(random_tensor(ndim=3, dim2=random(4, 9)))


def layer_norm() -> Any:
    size = random()
    m = torch.nn.LayerNorm(size, elementwise_affine=random_bool())
    return m(random_tensor(ndim=2, dim1=size, dtype="float32"))


def bmm() -> Any:
    batch, inner = random(1, 5), random(1, 8)
    return torch.bmm(random_tensor(ndim=3, dim0=batch, dim2=inner), random_tensor(ndim=3, dim0=batch, dim1=inner))


LEFT_OUT = [
    Wrong(
        "lstm in both directions of batches first",
        "nn.LSTM",
        module(lambda m: m.bidirectional and m.batch_first),
        lstm,
    ),
    Wrong(
        "max_pool's indices of what is padded",
        "nn.MaxPool1d",
        module(lambda m: m.return_indices and m.padding == 1),
        max_pool,
    ),
    Wrong(
        "layer_norm of more than 64 numbers without weights",
        "nn.LayerNorm",
        module(lambda m: m.weight is None and m.normalized_shape[0] > 64),
        layer_norm,
    ),
    Wrong("bmm by transposed square matrices", "bmm", called(lambda x, y: is_square_and_transposed(y)), bmm),
    Wrong(
        "var over more than eight rows of a tall matrix that keeps the dimension",
        "var",
        called(lambda x, dim, keepdim: keepdim and x.shape[0] > 8 > x.shape[1]),
        lambda: torch.var(plain(), dim=0, keepdim=random_bool()),
    ),
    Wrong(
        "sub of long rows from a column",
        "sub",
        where_shapes(lambda x, y: x[-1:] == (1,) and len(x) == len(y) and y[-1] > 8),
        two("sub"),
    ),
    Wrong(
        "mul of a block by a column",
        "mul",
        where_shapes(lambda x, y: x[-1] >= 8 and y == (x[0], 1) and x[0] > 1),
        two("mul"),
    ),
    Wrong(
        "exp's gradient of a sum of all elements",
        "exp",
        of_first(lambda result, x: through(lambda g, y: off(g) if is_spread(g) else g)(result)),
        one("exp"),
    ),
]
