"""linalg.vector_norm: x0.grad differs in gradient between torch and oneflow.

torch 2.0.1+cu117, oneflow 0.9.0; test_let_through.py::TestLetThrough.test_gradient_on_one_side_only, trial 0 of base seed 0.
semantic difference: in gradient; no third opinion on which side is right
Compared: x0.grad.
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

X0 = np.array([[1.6255735, 1.4152095, 1.3728714, 1.2040039], [1.3385978, 1.3822951, 1.4049075,
    1.6298828], [1.7459327, 1.5089538, 1.0066085, 1.1220937]], "float32")
C2 = np.array(-0.86690116, "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.linalg.vector_norm(x0, ord=0)
    v1.backward(torch.tensor(C2))
    return {"x0.grad": x0.grad}


RTOL, ATOL = 0.0001, 1e-05  # given by the test


def observe(value):
    """All of `value` that is compared, as plain data."""
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
