"""Operators that are wrong only where two features of a trial meet: a layout and sizes, an operand and its gradient."""

from __future__ import annotations

from typing import Any

from autotest import random, random_tensor, torch
from tests.support.faulty import returning
from tests.wrong_operators.numbers import two
from tests.wrong_operators.wrong import Wrong, as_it_lies, given, of_two, off, through, where


def dense(*arrays: Any) -> bool:
    """Return whether the matrices `arrays`, or those in the last two dimensions, are transposed and have no gaps."""
    return all(x.stride(-2) == 1 < x.stride(-1) == x.shape[-2] and x.shape[-1] > 1 for x in arrays)


def of_whole_rows(x: Any) -> bool:
    """Return whether the numbers of each row of `x` are side by side, but the rows are not."""
    return bool(x.stride(-1) == 1 and not x.is_contiguous() and 0 not in x.stride())


def backward(x: Any) -> bool:
    """Return whether the last of three dimensions does not vary fastest in memory, and the first does."""
    return bool(x.stride(0) < x.stride(2))


def expanded(x: Any, dim: int) -> bool:
    return bool(x.shape[dim] > 1 and x.stride(dim) == 0)


def negated(x: Any) -> Any:
    return through(lambda gradient, _: -gradient)(x)


def given_sizes() -> tuple[Any, Any]:
    return random(1, 5), random(1, 5)


def of_given_sizes() -> Any:
    """Return the product of two matrices, added to a third one."""
    (n, m), k = given_sizes(), random(1, 5)
    return torch.addmm(
        random_tensor(ndim=2, dim0=n, dim1=m),
        random_tensor(ndim=2, dim0=n, dim1=k),
        random_tensor(ndim=2, dim0=k, dim1=m),
    )


def joined() -> Any:
    n, m = given_sizes()
    return torch.cat((random_tensor(ndim=2, dim0=n, dim1=m), random_tensor(ndim=2, dim0=n, dim1=m)), dim=random(-2, 2))


MEETING = [
    Wrong(
        "sub of two operands with the same strides",
        "sub",
        of_two(lambda r, x, y: as_it_lies(r) if x.shape == y.shape and dense(x, y) else r),
        lambda: torch.sub(random_tensor(ndim=3), random_tensor(ndim=3)),
    ),
    Wrong(
        "addmm of rows of one number, with sizes that the test draws",
        "addmm",
        lambda f: lambda bias, x, y: f(off(bias) if expanded(bias, 1) else bias, x, y),
        of_given_sizes,
    ),
    Wrong(
        "cat of two transposed matrices with sizes that the test draws",
        "cat",
        lambda f: lambda xs, dim: f([as_it_lies(x) for x in xs] if dense(*xs) else xs, dim),
        joined,
    ),
    Wrong(
        "sub with a gradient of its second alone",
        "sub",
        lambda f: lambda x, y: f(x, negated(y) if y.requires_grad and not x.requires_grad else y),
        two("sub"),
    ),
    Wrong(
        "relu of rows that lie apart",
        "relu",
        given(lambda x: as_it_lies(x) if of_whole_rows(x) else x),
        lambda: torch.relu(random_tensor(ndim=2)),
    ),
    Wrong(
        "softmax of rows that lie apart and in another order",
        "softmax",
        given(lambda x: as_it_lies(x) if of_whole_rows(x) and x.stride(-3) < x.stride(-2) else x),
        lambda: torch.softmax(random_tensor(ndim=4), 3),
    ),
    Wrong(
        "bmm with rows of its second that lie apart",
        "bmm",
        lambda f: lambda x, y: f(x, as_it_lies(y) if of_whole_rows(y) else y),
        lambda: torch.bmm(random_tensor(ndim=3, dim0=2, dim2=3), random_tensor(ndim=3, dim0=2, dim1=3)),
    ),
    Wrong(
        "add of two arrays of one shape, the second with rows that lie apart",
        "add",
        lambda f: lambda x, y: f(x, as_it_lies(y) if x.shape == y.shape and of_whole_rows(y) else y),
        lambda: torch.add(random_tensor(ndim=3), random_tensor(ndim=3)),
    ),
    Wrong(
        "sum over the second of three dimensions that lie backward",
        "sum",
        given(lambda x: as_it_lies(x) if backward(x) else x),
        lambda: torch.sum(random_tensor(ndim=3), dim=1),
    ),
    Wrong(
        "sum of rows takes one of the numbers after blocks of four",
        "sum",
        given(lambda x: x[:, : x.shape[1] // 4 * 4 + 1] if x.shape[1] > 8 and x.shape[1] % 4 == 2 else x),
        lambda: torch.sum(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "relu with rows of its gradient that lie apart",
        "relu",
        lambda f: lambda x: through(lambda g, _: as_it_lies(g) if of_whole_rows(g) else g)(f(x)),
        lambda: torch.relu(random_tensor(ndim=2)),
    ),
    Wrong(
        "atan of numbers beyond a million and within an int32",
        "atan",
        where(lambda x: (x.abs() > 1e6) & (x.abs() < 2**31)),
        lambda: torch.atan(random_tensor(ndim=2)),
    ),
    Wrong(
        "amin that starts at a thousand",
        "amin",
        returning(lambda r: r.clamp(max=1000)),
        lambda: torch.amin(random_tensor(ndim=2), dim=1),
    ),
    Wrong(
        "amax of int64 that starts at the least int32",
        "amax",
        returning(lambda r: r.clamp(min=-(2**31))),
        lambda: torch.amax(random_tensor(ndim=2, dtype="int64"), dim=1),
    ),
    Wrong(
        "eq of a number and an array",
        "eq",
        lambda f: lambda x, y: f(y.reshape(-1)[0] if y.dim() > x.dim() == 0 else x, y),
        lambda: torch.eq(random_tensor(), random_tensor()),
    ),
    *(
        Wrong(
            f"heaviside of zeros beside other numbers, of shape {shape}",
            "heaviside",
            lambda f: lambda x, y: f(x, y.new_zeros(y.shape)),
            lambda shape=shape: torch.heaviside(*(random_tensor(shape=shape, requires_grad=False) for _ in "xy")),
        )
        for shape in ((), (2,))
    ),
]
