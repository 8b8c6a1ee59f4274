"""nn.functional.silu: ONNX Runtime of onnxruntime differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, onnxruntime 1.32.0 with torch 2.13.0+cpu; test_activation.py::test_function[name='silu'], trial 0 of base seed 3."""

import sys

import numpy as np

try:
    import torch
    import inspect
    import io
    import onnxruntime
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)

X0 = np.array(0.0, "float64")
given_back = []  # whether the graph returns each result


def before():
    """The inputs and modules outside the graph."""
    x0 = torch.tensor(X0)
    return (x0,), ()


def program(x0):
    """The calls that eager mode and the graph run."""
    v1 = torch.nn.functional.silu(x0)
    return (v1,)


def gradients(x0):
    """The gradients after backward."""
    return ()


class Exported(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.held = torch.nn.ModuleList(modules)

    def forward(self, *given):
        results = program(*given, *self.held)
        given_back[:] = [True for _ in results]
        return results


class Replay:
    def __call__(self, *given):
        file, names = io.BytesIO(), [f"given{at}" for at in range(len(given))]
        kept = {"training": torch.onnx.TrainingMode.PRESERVE, "opset_version": 17}
        if "dynamo" in inspect.signature(torch.onnx.export).parameters:
            kept["dynamo"] = False
        try:
            torch.onnx.export(Exported(), given, file, input_names=names, **kept)
        except Exception as error:
            sys.exit(print("cannot tell:", error) or 2)
        session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
        taken = {item.name for item in session.get_inputs()}
        feed = {name: one.detach().numpy() for name, one in zip(names, given) if name in taken}
        return [torch.from_numpy(np.array(one)) for one in session.run(None, feed)]


def close(actual, expected, rtol, atol):
    """Return where numbers agree. A real or imaginary part that is the same NaN or infinity in both counts as 0."""
    a, e = (np.array([np.real(side), np.imag(side)], float) for side in (actual, expected))
    alike = ~np.isfinite(e) & ((a == e) | np.isnan(a) & np.isnan(e))
    a, e = np.where(alike, 0, a), np.where(alike, 0, e)
    with np.errstate(all="ignore"):
        gap = np.hypot(*(a - e))
        return (gap <= atol + rtol * np.hypot(*e)) & np.isfinite(gap)


def both(eager, graphed, rtol, atol, values):
    """Return whether the two tensors are equal; `values` says whether their contents are compared."""
    if eager is None or graphed is None or eager.shape != graphed.shape or eager.dtype != graphed.dtype:
        return eager is graphed
    numbers = [np.array(side.detach().cpu().tolist()) for side in (graphed, eager)]
    return not values or close(*numbers, rtol, atol).all()


if __name__ == "__main__":
    try:
        tensors, modules = before()
        eager = [*program(*tensors, *modules), *gradients(*tensors, *modules)]
        [value.detach().numpy() for value in eager if value is not None]
    except Exception as error:
        sys.exit(print("cannot tell: eager mode raises", error) or 2)
    tensors, modules = before()
    try:
        graphed = Replay()(*tensors)
        graphed = [*graphed] if isinstance(graphed, (list, tuple)) else [graphed]
        [value.detach().numpy() for value in graphed]
    except Exception as error:
        print(*f"DIFFERS: eager mode accepts it, ONNX Runtime raises {type(error).__name__}: {error}".split())
        sys.exit(1)
    graphed = [graphed.pop(0) if there else None for there in given_back]
    found = []
    for name, one, other, limits in zip(['v1'], eager, graphed, [(1e-09, 1e-09, True)]):
        if not both(one, other, *limits):
            found.append(f"{name}: eager {one}, ONNX Runtime {other}")
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
