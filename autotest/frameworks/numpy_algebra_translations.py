"""torch's Fourier transforms and linear algebra in terms of NumPy's names; see `numpy_translations`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def transforms(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return Fourier transforms, by torch's paths."""
    fft: Any = getattr(mx, "fft", None)

    def floating(input: Any) -> Any:
        return input if mx.issubdtype(input.dtype, mx.inexact) else input.astype(mx.float32)

    def along_one(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input, n=None, dim=-1, norm=None: own(floating(input), n, dim, norm or "backward")

    def along_two(own: Callable[..., Any]) -> Callable[..., Any]:
        return along_several(own, (-2, -1))

    def along_several(own: Callable[..., Any], dims: tuple[int, ...] | None = None) -> Callable[..., Any]:
        def transformed(input: Any, s: Any = None, dim: Any = dims, norm: str | None = None) -> Any:
            axes = tuple(range(-len(s), 0)) if dim is None and s is not None else dim
            return own(floating(input), s, axes, norm or "backward")

        return transformed

    def shift(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input, dim=None: own(input, dim)

    names = {
        along_one: "fft ifft rfft irfft hfft ihfft",
        along_two: "fft2 ifft2 rfft2 irfft2",
        along_several: "fftn ifftn rfftn irfftn",
        shift: "fftshift ifftshift",
    }
    return {
        f"fft.{name}": translate(getattr(fft, name))
        for translate, listed in names.items()
        for name in listed.split()
        if hasattr(fft, name)
    }


def matrices(mx: Any) -> dict[str, Callable[..., Any]]:
    """Return functions of matrices, by torch's paths."""
    linalg: Any = getattr(mx, "linalg", None)

    def solve(A: Any, B: Any, *, left: bool = True) -> Any:
        if not left:
            turned = solve(mx.swapaxes(A, -1, -2), mx.swapaxes(B, -1, -2))
            return mx.swapaxes(turned, -1, -2)
        if B.ndim == 1 or (B.ndim == A.ndim - 1 and tuple(B.shape) == tuple(A.shape[:-1])):  # torch: a batch of vectors
            return mx.squeeze(linalg.solve(A, mx.expand_dims(B, -1)), -1)
        return linalg.solve(A, B)

    def cholesky(A: Any, *, upper: bool = False) -> Any:
        lower = linalg.cholesky(A)
        return mx.conj(mx.swapaxes(lower, -1, -2)) if upper else lower

    def of_input(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda input: own(input)

    def of_matrix(own: Callable[..., Any]) -> Callable[..., Any]:
        return lambda A: own(A)

    found: dict[str, Callable[..., Any]] = {}
    for name in ("inv", "det", "slogdet"):
        if hasattr(linalg, name):
            own = getattr(linalg, name)
            found[f"linalg.{name}"] = of_matrix(own)
            found["inverse" if name == "inv" else name] = of_input(own)
    if hasattr(linalg, "solve"):
        found["linalg.solve"] = solve
    if hasattr(linalg, "cholesky"):
        found["linalg.cholesky"] = cholesky
        found["cholesky"] = lambda input, upper=False: cholesky(input, upper=upper)
    if hasattr(linalg, "eigvalsh"):
        found["linalg.eigvalsh"] = lambda A, UPLO="L": linalg.eigvalsh(A, UPLO)
    if hasattr(linalg, "svd"):
        found["linalg.svdvals"] = lambda A: linalg.svd(A, compute_uv=False)
    if hasattr(linalg, "matrix_power"):
        found["linalg.matrix_power"] = lambda A, n: linalg.matrix_power(A, n)
    return found
