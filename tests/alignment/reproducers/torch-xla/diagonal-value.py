"""diagonal: v1 differs in value between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_matmul.py::TestLinearAlgebra.test_diagonal, trial 0 of base seed 77.
torch:xla: NumPy gives -0.0664641857 at (2, 3), as torch does
Compared: v1, x0.grad.
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

C2 = np.array([[0.8448281, -0.395903, 0.25253296, 0.24535167], [-0.07701874, -0.5274929, -0.4175539,
    -0.15137398], [0.15538442, -0.89996946, -0.77795386, 0.94463766], [-0.92223144, 0.48279858,
    0.010311842, 0.07575297]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.diagonal(x0, offset=0, dim1=0, dim2=1)
    v1.backward(torch.tensor(C2))
    return {"v1": v1, "x0.grad": x0.grad}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (4, 6, 4),
    "c-jGg0e}9ett`JJY@xm&$-6yN*e*ZtUWPufS>it2b~-<V+xWhK)Z{(@FM~Z)kBL4o6X`y-^;N$BWaU1<?Fv0~f9pP=Ts%F"
    "1cH2JCX+uAjd~iSTD8#*_*+4&FFiyXQo*+M@mIS{}xHZ3ic`ZKxX%D<w8!Nv|Tu(oMhzq~`91OqcD4@QMgg3v$8>&9&_#D"
    "2}KG8mODHy+~=V8BKvnN03zy7{N`vAYtJuAOP_g_EY4QD_83K_ppz;3=w!*suL2@Ss}Jj=caDRMsSnRUNnwFtjNe6T*oLJ"
    "z+{NaQ{GRxm%<+*v<-YnZ-D(N{kRWI#VYC?7u-4Hv&I$#K76%V$5-yJ){&j77gNEcCq)alSs18c#p2&~-m##F4(t!jr!Ik"
    "fpvHvsk}Od5=D7Um3q>LP$QgBM(1Vyk0(%V?n>1?&dx~rvtti7|XsCnp!`+sz^Uz9*Dir9V0)OB@({AHVeN1{#Lwrxkf+8"
    "E7d*#6l=eLDW^Pqz@t9R+p@9")


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
