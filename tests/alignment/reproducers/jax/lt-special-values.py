"""lt: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_relations_of_special_values[name='lt'], trial 1 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[np.inf, -np.inf, 2.2000563, -3.8438478, -3.4028235e+38, -2.0589557], [-0.025873303,
    2.8625863, 2.638273, 0.0, -1e-45, -3.4028235e+38], [-0.962011, 1.7600434, -1.5620762,
    3.4028235e+38, -3.039775, -0.51224387], [-1.3823062, 3.4028235e+38, -2.2547112, 1.198333,
    -1.8620259, 3.7411206], [2.0753138, 1.8755867, 1.17538, -1e-45, 1.338721, np.inf], [1.3690174,
    1e-45, -1.7348639, -3.5330834, -1.2202088, 3.6198905]], "float32")
X1 = np.array([[-0.0, -2.976768, 2.880091, 3.739734, -0.23911488, 2.767657], [0.808398, 3.602679,
    -1.0809261, -1.2151285, 0.6591456, -0.43530762], [-2.755332, -3.7797475, 0.9885738, -1.9645058,
    2.6838062, 2.6620176], [0.69486785, -0.1362139, -1.7882539, -2.9765935, -0.79122937, 1.0373662],
    [-1.0540587, -1.7456552, -1e-45, -0.0, 0.4847386, -0.6251122], [-1e-45, -0.0, 2.1782863, 0.0,
    np.nan, 2.150285]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.lt(x0, x1)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[np.inf, -np.inf, 2.2000563, -3.8438478, -3.4028235e+38, -2.0589557], [-0.025873303, 2.8625863, 2.638273, 0.0, -1e-45, -3.4028235e+38], [-0.962011, 1.7600434, -1.5620762, 3.4028235e+38, -3.039775, -0.51224387], [-1.3823062, 3.4028235e+38, -2.2547112, 1.198333, -1.8620259, 3.7411206], [2.0753138, 1.8755867, 1.17538, -1e-45, 1.338721, np.inf], [1.3690174, 1e-45, -1.7348639, -3.5330834, -1.2202088, 3.6198905]], "float32"))
    x1 = jax.numpy.array(np.array([[-0.0, -2.976768, 2.880091, 3.739734, -0.23911488, 2.767657], [0.808398, 3.602679, -1.0809261, -1.2151285, 0.6591456, -0.43530762], [-2.755332, -3.7797475, 0.9885738, -1.9645058, 2.6838062, 2.6620176], [0.69486785, -0.1362139, -1.7882539, -2.9765935, -0.79122937, 1.0373662], [-1.0540587, -1.7456552, -1e-45, -0.0, 0.4847386, -0.6251122], [-1e-45, -0.0, 2.1782863, 0.0, np.nan, 2.150285]], "float32"))
    v2 = jax.numpy.less(x0, x1)
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
