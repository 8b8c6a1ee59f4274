"""ge: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_relations_of_special_values[name='ge'], trial 1 of base seed 0.
tinygrad: NumPy gives 0 at (1, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[1e-45, -1.4532968, 1.43592, 0.0, -1.1534239, -1e-45], [0.12689805, -1.6647726, 0.0,
    0.13889718, 3.5489986, -3.2777567], [1e-45, 0.0, -1.8154451, -2.998887, 1e-45, -0.0], [1e-45,
    -0.67359173, 1e-45, 2.1660278, -0.0, 0.0], [0.4009478, 0.70092463, 2.3992336, 2.948815,
    -1.9541994, 1.1754944e-38], [-np.inf, -2.2755399, 0.16019845, 2.5099452, 3.4028235e+38, -0.0]],
    "float32")
X1 = np.array([[np.inf, -1.1890203, 1.5887263, 0.6349189, -0.21263039, 0.5238259], [-3.232276,
    -0.25220788, np.nan, 2.8078115, 0.70569205, 0.735513], [-0.6044079, -3.683402, -0.6549598,
    np.inf, 0.49396348, 3.9173334], [-3.8285017, -1.3626453, 1.1754944e-38, -2.5450258, 3.3609674,
    -3.3046942], [3.496267, -1.369104, 0.77510095, 0.0, 1e-45, -2.2708654], [1.1754944e-38,
    -2.4444427, -2.3524761, -np.inf, -1.778258, -2.0253358]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.ge(x0, x1)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[1e-45, -1.4532968, 1.43592, 0.0, -1.1534239, -1e-45], [0.12689805, -1.6647726, 0.0, 0.13889718, 3.5489986, -3.2777567], [1e-45, 0.0, -1.8154451, -2.998887, 1e-45, -0.0], [1e-45, -0.67359173, 1e-45, 2.1660278, -0.0, 0.0], [0.4009478, 0.70092463, 2.3992336, 2.948815, -1.9541994, 1.1754944e-38], [-np.inf, -2.2755399, 0.16019845, 2.5099452, 3.4028235e+38, -0.0]], "float32"))
    x1 = tinygrad.Tensor(np.array([[np.inf, -1.1890203, 1.5887263, 0.6349189, -0.21263039, 0.5238259], [-3.232276, -0.25220788, np.nan, 2.8078115, 0.70569205, 0.735513], [-0.6044079, -3.683402, -0.6549598, np.inf, 0.49396348, 3.9173334], [-3.8285017, -1.3626453, 1.1754944e-38, -2.5450258, 3.3609674, -3.3046942], [3.496267, -1.369104, 0.77510095, 0.0, 1e-45, -2.2708654], [1.1754944e-38, -2.4444427, -2.3524761, -np.inf, -1.778258, -2.0253358]], "float32"))
    v2 = x0 >= x1
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
