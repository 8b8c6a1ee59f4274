"""torch's functions that are spelt in NumPy's names, over NumPy itself, give what torch gives."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
import torch as real

from autotest.frameworks.numpy_translations import numpy_translations
from tests.support.numpy_names import NumPyNames


def spelt(path: str) -> Callable[..., Any]:
    return numpy_translations(NumPyNames())[path]


def of_torch(path: str) -> Callable[..., Any]:
    found: Any = real
    for name in path.split("."):
        found = getattr(found, name, None) or getattr(real.Tensor, name)
    return found  # type: ignore[no-any-return]


def floats(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).standard_normal(shape)


def whole(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(-9, 9, shape)


def complexes(*shape: int) -> np.ndarray[Any, Any]:
    return floats(*shape) + 1j * floats(*shape)[::-1]


def definite(*shape: int) -> np.ndarray[Any, Any]:
    given = floats(*shape)
    return given @ given.swapaxes(-1, -2) + np.eye(shape[-1])


with_nan = np.array([[2.0, np.nan, 1.0], [3.0, 1.0, 3.0]])
with_ties = whole(5, 30)
Case = tuple[str, tuple[Any, ...], Mapping[str, Any]]


def case(path: str, *args: Any, **kwargs: Any) -> Case:
    return path, args, kwargs


CASES: list[Case] = [
    *(case(name, floats(3, 4) * 3) for name in "trunc frac exp2 signbit isposinf angle conj trace round".split()),
    case("round", floats(3, 4), decimals=1),
    *(case(name, complexes(3, 4)) for name in ("angle", "conj", "conj_physical", "trace")),
    *(case(name, floats(3, 4), floats(4)) for name in "fmod hypot copysign fmax fmin logaddexp2 logical_xor".split()),
    case("heaviside", np.array([-1.0, 0.0, 2.0]), np.array([0.5, 0.5, 0.5])),
    *(case(name, whole(3, 4), whole(4)) for name in ("gcd", "lcm")),
    case("kron", floats(2, 3), floats(3, 2)),
    case("flip", floats(3, 4), (0, -1)),
    case("split", floats(5, 4), 2),
    case("split", floats(5, 4), [1, 3], dim=1),
    case("split", floats(0, 4), 2),
    case("chunk", floats(5, 4), 3, -1),
    case("chunk", floats(0, 4), 3),
    case("tensor_split", floats(5, 4), 3),
    case("tensor_split", floats(5, 4), (1, 3), dim=1),
    case("unbind", floats(3, 4), 1),
    case("select", floats(3, 4), 1, -1),
    case("narrow", floats(3, 4), -1, -3, 2),
    case("repeat", floats(3, 4), 2, 1, 3),
    case("repeat_interleave", floats(3, 4), 2),
    case("repeat_interleave", floats(3, 4), 3, dim=1),
    case("masked_fill", floats(3, 4), floats(3, 4) > 0, -np.inf),
    *(case(name, with_nan, descending=down) for name in ("sort", "argsort") for down in (False, True)),
    *(case("sort", with_ties, dim=0, descending=down, stable=True) for down in (False, True)),
    case("sort", np.array(3.0), -1),
    case("argsort", np.array(3.0), 0),
    *(case(name, [floats(3, 4), floats(3, 4)]) for name in ("vstack", "hstack", "dstack")),
    case("baddbmm", floats(2, 3, 4), floats(2, 3, 5), floats(2, 5, 4), beta=2, alpha=0.5),
    case("tensordot", floats(2, 3), floats(3, 4), dims=1),
    case("tensordot", floats(2, 3), floats(3, 2), ([0], [1])),
    *(case(f"fft.{name}", floats(3, 6)) for name in "fft ifft rfft ihfft fft2 ifft2 rfft2 fftn rfftn fftshift".split()),
    *(case(f"fft.{name}", complexes(3, 6), 4, 0, "ortho") for name in "fft ifft irfft hfft".split()),
    case("fft.fft", whole(4), norm="forward"),
    case("fft.irfft2", complexes(3, 4), s=(3, 5)),
    case("fft.fftn", floats(2, 3, 4), s=(2, 3)),
    case("fft.ifftshift", floats(3, 5), dim=1),
    *(case(f"linalg.{name}", definite(2, 3, 3)) for name in "inv det slogdet cholesky eigvalsh".split()),
    *(case(name, definite(2, 3, 3)) for name in ("inverse", "det", "slogdet")),
    case("linalg.cholesky", definite(3, 3), upper=True),
    case("linalg.solve", definite(2, 3, 3), floats(2, 3, 4)),
    case("linalg.solve", definite(2, 3, 3), floats(2, 3)),
    case("linalg.solve", definite(3, 3), floats(3)),
    case("linalg.solve", definite(3, 3), floats(4, 3), left=False),
    case("linalg.svdvals", floats(3, 4)),
    case("linalg.matrix_power", floats(3, 3), 3),
]


def given_to_torch(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return real.from_numpy(value)
    return [given_to_torch(item) for item in value] if isinstance(value, list) else value


def listed(made: Any) -> list[Any]:
    return list(made) if isinstance(made, (tuple, list)) else [made]


@pytest.mark.parametrize(("path", "args", "kwargs"), CASES, ids=[f"{at}-{it[0]}" for at, it in enumerate(CASES)])
def test_a_function_gives_what_torch_gives(path: str, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
    actual = listed(spelt(path)(*args, **kwargs))
    expected = listed(of_torch(path)(*map(given_to_torch, args), **kwargs))
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected, strict=True):
        wanted = other.resolve_conj().numpy()
        assert np.shape(one) == wanted.shape
        assert np.asarray(one).dtype.kind == wanted.dtype.kind
        np.testing.assert_allclose(one, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    ("path", "args"),
    [("split", ([1, 1],)), ("narrow", (0, 2, 2)), ("narrow", (0, -4, 1)), ("narrow", (0, 1, -1))],
    ids=["sizes that do not add up", "a part past the end", "a part before the start", "a negative length"],
)
def test_a_part_that_the_tensor_does_not_have_is_refused(path: str, args: tuple[Any, ...]) -> None:
    with pytest.raises((ValueError, IndexError), match="expected"):
        spelt(path)(floats(3, 4), *args)
    with pytest.raises((RuntimeError, IndexError)):
        of_torch(path)(real.ones(3, 4), *args)


def test_what_a_library_lacks_has_no_translation() -> None:
    class Without(NumPyNames):
        fft = linalg = None

        def __getattr__(self, name: str) -> Any:
            if name in ("vstack", "hypot"):
                raise AttributeError(name)
            return super().__getattr__(name)

    lacking = set(numpy_translations(NumPyNames())) - set(numpy_translations(Without()))
    assert {"vstack", "hypot", "inverse", "linalg.solve", "fft.fft"} <= lacking
    assert all(name in ("vstack", "hypot", "inverse", "det", "slogdet", "cholesky") or "." in name for name in lacking)
