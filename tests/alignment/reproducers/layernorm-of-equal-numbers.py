"""nn.LayerNorm: v4 differs in value between torch and oneflow.

torch 2.0.1+cu117, oneflow 0.9.0; test_normalisation.py::test_in_double_precision[name='LayerNorm'], trial 29 of base seed 407334068.
torch: NumPy gives 0 at (0, 2, 0), as oneflow does
Compared: v4.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

A0 = np.array([1.0, 1.0, 1.0, 1.0], "float64")
A1 = np.array([0.0, 0.0, 0.0, 0.0], "float64")


def program(torch):
    m0 = torch.nn.LayerNorm(4)
    m0.double()
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
    x0 = torch.tensor(X0)
    v4 = m0(x0)
    return {"v4": v4}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float64", (3, 4, 4),
    "c-qswa{bc5JCFA3;-JkY_&wYn{tGAlZ{nQ)v-@$==f&@cbBq77$3<J;*=;sy%@>?>$j$89tFJEMq))^~-?m@4Z$B=Ysk<@"
    "U*y|Tgx^l|~jYWT+<D@(HXO)}$|6-4e{%SnQ<k*zoIBDP0^-j}gKi-dv1^~An;&l")


RTOL, ATOL = 1e-09, 4.957383990202926e-22  # given by the test


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
        for key in {**expected, **actual}:
            deeper = f"{name} {key}".strip()
            yield from differences(deeper, expected.get(key), actual.get(key), expected.get("dtype", dtype))
    elif type(expected) is not type(actual) or np.shape(expected) != np.shape(actual):
        yield f"{name}: expected {expected}, actual {actual}"
    else:
        e, a = np.asarray(expected), np.asarray(actual)
        rtol, atol = RTOL, ATOL
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
    expected, actual = run(torch), run(oneflow)
    if isinstance(expected, str):
        sys.exit(print("cannot tell: torch", expected) or 2)
    found = ["oneflow " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
