"""eq: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_relations_of_special_values[name='eq'], trial 0 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[1.3920453, -2.2750478, 3.2051017, -2.1105576, np.nan, 3.256584], [0.70199656,
    -2.3953943, 1e-45, 2.3975384, 3.5571353, -2.3922572], [np.inf, -2.243915, -0.35448134,
    0.8957875, 1.1545169, -1.9800988], [-3.0846353, np.inf, -3.912084, 3.4028235e+38, -1.0550996,
    2.854365], [-2.907608, -1e-45, -3.2109003, 1.385237, 3.207946, -1.0549909], [3.443856,
    -0.71651757, 3.450229, 3.4028235e+38, 0.2656176, -0.024534822]], "float32")
X1 = np.array([[-2.985952, 2.2014534, -3.7896576, -3.5107422, -2.047205, 2.5948212], [0.42175364,
    0.5565984, 1.7647765, -1.87355, -2.5618753, -3.6823978], [1.709821, np.inf, 3.4028235e+38,
    2.0172346, -2.633655, 0.0], [np.inf, -0.0, 3.7576725, 3.8387105, 3.4910452, 1.6035993],
    [3.8787768, 0.0, -3.7513456, 0.11268401, 1.1849401, 3.4028235e+38], [3.0848758, 2.7633936, -0.0,
    1.5571392, 1.1465528, 0.8960998]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.eq(x0, x1)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[1.3920453, -2.2750478, 3.2051017, -2.1105576, np.nan, 3.256584], [0.70199656, -2.3953943, 1e-45, 2.3975384, 3.5571353, -2.3922572], [np.inf, -2.243915, -0.35448134, 0.8957875, 1.1545169, -1.9800988], [-3.0846353, np.inf, -3.912084, 3.4028235e+38, -1.0550996, 2.854365], [-2.907608, -1e-45, -3.2109003, 1.385237, 3.207946, -1.0549909], [3.443856, -0.71651757, 3.450229, 3.4028235e+38, 0.2656176, -0.024534822]], "float32"))
    x1 = jax.numpy.array(np.array([[-2.985952, 2.2014534, -3.7896576, -3.5107422, -2.047205, 2.5948212], [0.42175364, 0.5565984, 1.7647765, -1.87355, -2.5618753, -3.6823978], [1.709821, np.inf, 3.4028235e+38, 2.0172346, -2.633655, 0.0], [np.inf, -0.0, 3.7576725, 3.8387105, 3.4910452, 1.6035993], [3.8787768, 0.0, -3.7513456, 0.11268401, 1.1849401, 3.4028235e+38], [3.0848758, 2.7633936, -0.0, 1.5571392, 1.1465528, 0.8960998]], "float32"))
    v2 = jax.numpy.equal(x0, x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.array_equal(expected, actual):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
