"""sum: ONNX Runtime and ONNX's reference evaluator keep the dimensions of an empty tensor that is summed, where torch gives a number. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, onnxruntime 1.32.0; test_reduction.py::TestReduction.test_sum_of_nothing_is_zero."""

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
        return torch.sum(x0)


given = (torch.zeros(2, 0),)
expected = Program()(*given).numpy()
file = io.BytesIO()
try:
    torch.onnx.export(Program(), given, file, input_names=["x{}".format(at) for at in range(len(given))], opset_version=17, dynamo=False)
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
