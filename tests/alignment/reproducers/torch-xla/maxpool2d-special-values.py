"""nn.MaxPool2d: v3 differs in value between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_pooling.py::TestFunctional.test_maximum_of_nan_and_infinities, trial 0 of base seed 77.
torch:xla: NumPy gives nan at (0, 1, 0, 2), as torch does
Compared: v3.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import torch_xla
    torch.empty(1, device='xla')
    from typing import Any
    class OnDevice:
        """torch, or a module of it, whose functions put what they make on a device."""

        def __init__(self, inner: Any, device: str) -> None:
            self.inner, self.device = inner, device
        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inner, name)
            return OnDevice(found, self.device) if callable(found) or hasattr(found, "__path__") else found
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            import torch
            with torch.device(self.device):
                return self.inner(*args, **kwargs)
    on_device = OnDevice(torch, 'xla')
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

def program(torch):
    x0 = torch.tensor(X0)
    v1 = x0 * 1
    m2 = torch.nn.MaxPool2d(2)
    v3 = m2(v1)
    return {"v3": v3}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (1, 2, 6, 6),
    "c-r%Fnd$KVr?A6b6*q?^j}7;E&X;pobYitV149GDx!$ezDzoezGQP}nn0P?IK_~2{L*DCB2S%WzqvawH%^<T~-{IVh=XM{"
    "`wmG=+hJwY|&x<=e;GONzbhQA?fBw15;d{z8`*Vl>+q>^v>TsY|+~!V_lpRot;l1Dz2a!d54j}tL=DrJ<>u{FC$bq+nA0$"
    "@4A$gX=l!x0LmQI=Nu;^Tv!>;d}910Ey*)lL3sJ}Qr%0V&azQc>P3&3ttGM%#zByJ_&X}^D~JV^ilc0LV<u6^!cvp)V+aV"
    "Wo(24;s8nK*##f7LzN{(%n9{{R2$>pdI!9m*WeI6QxU-o7;}$D!q?!9D=n7jb|")


TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|
    "float16": (0.001, 0.001), "bfloat16": (0.016, 0.01), "float32": (0.0001, 1e-05),
    "float64": (1e-09, 1e-09), "complex64": (0.0001, 1e-05), "complex128": (1e-09, 1e-09),
}


def observe(value):
    """All of `value` that is compared, as plain data."""
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"type": kind, "length": len(value), **{at: observe(item) for at, item in enumerate(value)}}
    if isinstance(value, dict):
        return {"keys": ", ".join(map(repr, value)), **{key: observe(item) for key, item in value.items()}}
    if not hasattr(value, "requires_grad"):
        return value if type(value).__module__ == "builtins" else type(value).__name__
    facts = {"type": "tensor", "shape": tuple(value.shape), "dtype": str(value.dtype).split(".")[-1]}
    facts |= {"device": value.device.type, "requires_grad": value.requires_grad}
    return {**facts, "values": np.array(value.detach().cpu().tolist())}


def differences(name, expected, actual, dtype="float32"):
    """Where `actual` is not the reference's `expected`, a line each. Nothing broadcasts."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [key for key in {**expected, **actual} if key not in ("device",)]:
            deeper = f"{name} {key}".strip()
            yield from differences(deeper, expected.get(key), actual.get(key), expected.get("dtype", dtype))
    elif type(expected) is not type(actual) or np.shape(expected) != np.shape(actual):
        yield f"{name}: expected {expected}, actual {actual}"
    else:
        e, a = np.asarray(expected), np.asarray(actual)
        rtol, atol = TOLERANCE.get(dtype, (0, 0))
        equal = np.isclose(a, e, rtol, atol, equal_nan=True) if e.dtype.kind in "fc" else np.asarray(a == e)
        for at in np.argwhere(~equal)[:1].tolist():
            many = f"{(~equal).sum()} of {e.size} differ, at {at}: " if at else ""
            yield f"{name}: {many}expected {e[tuple(at)]}, actual {a[tuple(at)]}"


def run(framework):
    try:
        return {name: observe(value) for name, value in program(framework).items()}
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    expected, actual = run(torch), run(on_device)
    if isinstance(expected, str):
        sys.exit(print("cannot tell: torch", expected) or 2)
    found = ["torch:xla " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
