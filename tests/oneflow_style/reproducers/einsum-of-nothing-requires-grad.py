"""einsum: v1 differs in requires_grad between torch and oneflow.

torch 2.0.1+cu117, oneflow 0.9.0; test_let_through.py::TestLetThrough.test_sum_of_nothing, trial 0 of base seed 0.
semantic difference: in requires_grad; no third opinion on which side is right
Compared: v1.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import sys

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

X0 = np.zeros((3, 0, 4), "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.einsum("ijk", x0)
    return {"v1": v1}


RTOL, ATOL = 0.0001, 1e-05  # given by the test


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
        for key in [key for key in {**expected, **actual} if key not in ("dtype",)]:
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
        print("cannot compare: torch", expected)
        sys.exit(2)
    found = ["oneflow " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*(found or ["torch and oneflow agree"]), sep="\n")
    sys.exit(1 if found else 0)
