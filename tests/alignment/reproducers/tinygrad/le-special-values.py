"""le: v2 differs in value between torch and tinygrad. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, tinygrad 0.14.0; test_elementwise.py::test_relations_of_special_values[name='le'], trial 0 of base seed 0.
tinygrad: NumPy gives 0 at (0, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[0.0, -0.0, np.nan, 3.7186549, 1.7152407, -0.76847136], [3.777467, -1.0956861,
    3.5690062, -np.inf, 3.4168928, -2.5308452], [-3.8406081, 3.4767396, -0.18997538, 2.783171,
    -1.5627996, 0.35567784], [-3.1773987, 0.31051612, 0.85677266, 3.293206, 2.235881,
    1.1754944e-38], [-0.30980408, -2.5309467, 1.5748107, -0.7242023, -0.7616359, -np.inf],
    [1.6203153, 0.26942706, 2.3406217, 1e-45, -0.5885526, 1e-45]], "float32")
X1 = np.array([[-0.43467963, -3.813528, 0.533478, -2.6102228, 2.6274598, -1e-45], [0.94411826,
    -0.15485585, -3.8839931, -1.1859456, -3.0083141, -0.92427313], [-0.7906724, 0.75011945, 1e-45,
    0.871001, -3.419816, -2.6552095], [2.072457, -2.479804, np.inf, 0.19147563, 0.34383845, -1e-45],
    [2.646345, 0.11088729, 0.75572896, 1.1754944e-38, -3.7078757, -0.0], [3.2625353, 1.3476489,
    0.40475345, -3.599574, -0.33868086, 0.5871241]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.le(x0, x1)
    return v2.tolist()

def in_tinygrad():
    import os
    import shutil
    if shutil.which("clang") is None:
        os.environ.setdefault("DEV", "PYTHON")  # the device that interprets
    import tinygrad as tinygrad
    x0 = tinygrad.Tensor(np.array([[0.0, -0.0, np.nan, 3.7186549, 1.7152407, -0.76847136], [3.777467, -1.0956861, 3.5690062, -np.inf, 3.4168928, -2.5308452], [-3.8406081, 3.4767396, -0.18997538, 2.783171, -1.5627996, 0.35567784], [-3.1773987, 0.31051612, 0.85677266, 3.293206, 2.235881, 1.1754944e-38], [-0.30980408, -2.5309467, 1.5748107, -0.7242023, -0.7616359, -np.inf], [1.6203153, 0.26942706, 2.3406217, 1e-45, -0.5885526, 1e-45]], "float32"))
    x1 = tinygrad.Tensor(np.array([[-0.43467963, -3.813528, 0.533478, -2.6102228, 2.6274598, -1e-45], [0.94411826, -0.15485585, -3.8839931, -1.1859456, -3.0083141, -0.92427313], [-0.7906724, 0.75011945, 1e-45, 0.871001, -3.419816, -2.6552095], [2.072457, -2.479804, np.inf, 0.19147563, 0.34383845, -1e-45], [2.646345, 0.11088729, 0.75572896, 1.1754944e-38, -3.7078757, -0.0], [3.2625353, 1.3476489, 0.40475345, -3.599574, -0.33868086, 0.5871241]], "float32"))
    v2 = x0 <= x1
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
