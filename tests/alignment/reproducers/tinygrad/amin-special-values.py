"""amin: v1 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_reduction.py::test_of_special_values[name='amin'], trial 0 of base seed 0.
tinygrad: NumPy gives nan at (4,), as torch does"""
import sys
import numpy as np

X0 = np.array([[0.9087404, 1.5258211, 1.4209405, -1.9468074], [1.7871796, -0.49908048, -0.8540285,
    0.696782], [0.7114049, -0.0, -0.81046754, 0.9869498], [1.6471845, -0.0, 0.028916478, 0.9422773],
    [-0.6324592, -0.811014, 1.0140501, np.nan]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    v1 = torch.amin(x0, dim=1)
    return v1.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[0.9087404, 1.5258211, 1.4209405, -1.9468074], [1.7871796, -0.49908048, -0.8540285, 0.696782], [0.7114049, -0.0, -0.81046754, 0.9869498], [1.6471845, -0.0, 0.028916478, 0.9422773], [-0.6324592, -0.811014, 1.0140501, np.nan]], "float32"))
    v1 = x0.min(1)
    return v1.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
