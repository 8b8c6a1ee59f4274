"""fmod: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_arithmetic_of_special_values[name='fmod'], trial 0 of base seed 0.
tinygrad: NumPy gives -1.00528049 at (1, 3), as torch does"""
import sys
import numpy as np

X0 = np.array([[0.9799067, 2.0846183, 0.4892466, -3.4028235e+38, 1.7108529, -np.inf], [-2.8890252,
    2.3257768, -0.8293599, -1.0052805, -2.8106527, -3.4028235e+38], [-1.7830868, -2.4895382,
    -2.744412, 1.1754944e-38, -2.148178, 0.40953994], [-1.2825041, -1.3798184, -0.8638567,
    -1.2593699, -1.0387827, 1.424731], [-1.7037588, -1.2374951, -1.2888308, 0.0, -1.7444897,
    -1e-45], [2.484786, 1.395299, -2.5987887, 1.6365759, 0.5154904, 1.8232347]], "float32")
X1 = np.array([[0.66301763, -2.4371605, -1.961351, 0.81248987, -1e-45, 0.92086303], [-0.12511623,
    0.8521098, -2.960968, -np.inf, -2.107791, -2.6645193], [0.0, 0.20520139, 2.911225, -1.6921914,
    -0.15711987, 1.7149278], [0.91864717, -1.5477787, -1.1206684, -0.9663328, np.inf, 1.4242736],
    [-1.4815089, 1.0590117, 1.524152, -2.2269669, 2.0985634, -0.5962955], [np.nan, 0.6082337,
    -2.2057965, -1.0688438, np.nan, 1.2558094]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.fmod(x0, x1)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[0.9799067, 2.0846183, 0.4892466, -3.4028235e+38, 1.7108529, -np.inf], [-2.8890252, 2.3257768, -0.8293599, -1.0052805, -2.8106527, -3.4028235e+38], [-1.7830868, -2.4895382, -2.744412, 1.1754944e-38, -2.148178, 0.40953994], [-1.2825041, -1.3798184, -0.8638567, -1.2593699, -1.0387827, 1.424731], [-1.7037588, -1.2374951, -1.2888308, 0.0, -1.7444897, -1e-45], [2.484786, 1.395299, -2.5987887, 1.6365759, 0.5154904, 1.8232347]], "float32"))
    x1 = tinygrad.Tensor(np.array([[0.66301763, -2.4371605, -1.961351, 0.81248987, -1e-45, 0.92086303], [-0.12511623, 0.8521098, -2.960968, -np.inf, -2.107791, -2.6645193], [0.0, 0.20520139, 2.911225, -1.6921914, -0.15711987, 1.7149278], [0.91864717, -1.5477787, -1.1206684, -0.9663328, np.inf, 1.4242736], [-1.4815089, 1.0590117, 1.524152, -2.2269669, 2.0985634, -0.5962955], [np.nan, 0.6082337, -2.2057965, -1.0688438, np.nan, 1.2558094]], "float32"))
    v2 = x0.fmod(x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_tinygrad()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, tinygrad {actual}".split())[:1000])
sys.exit(1)
