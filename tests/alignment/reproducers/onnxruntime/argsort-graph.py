"""argsort: ONNX Runtime's TopK does not put NaN last; torch and ONNX's reference evaluator do. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, onnxruntime 1.23.2; test_reduction.py::TestOrder.test_dtype_of_places_of_argsort."""

import io
import sys

import numpy as np

try:
    import onnxruntime
    import torch
except (ImportError, OSError) as error:
    sys.exit(print("cannot tell:", error) or 2)


class Program(torch.nn.Module):
    def forward(self, x0):
        return torch.argsort(x0)


given = (torch.tensor([-1.0, -2.0, float('nan'), -3.0, -0.5, 0.7]),)
expected = Program()(*given).numpy()
file = io.BytesIO()
try:
    torch.onnx.export(Program(), given, file, input_names=["x{}".format(at) for at in range(len(given))], opset_version=17)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    session = onnxruntime.InferenceSession(file.getvalue(), providers=["CPUExecutionProvider"])
    taken = {item.name for item in session.get_inputs()}
    feed = {f"x{at}": one.numpy() for at, one in enumerate(given) if f"x{at}" in taken}
    (actual,) = session.run(None, feed)
except Exception as error:
    print("DIFFERS: torch gives", expected.tolist(), "and ONNX Runtime raises", " ".join(str(error).split())[:300])
    sys.exit(1)
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-4, 1e-5, equal_nan=True):
    sys.exit(print("same"))
print("DIFFERS: torch gives", expected.shape, expected.tolist(), "and ONNX Runtime", actual.shape, actual.tolist())
sys.exit(1)
