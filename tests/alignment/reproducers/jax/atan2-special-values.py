"""atan2: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_arithmetic_of_special_values[name='atan2'], trial 0 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[-0.0, -np.inf, np.inf, 1.4133294, 2.540116, -1.2659208], [-0.5997213, -0.028255105,
    -0.0, -0.0, 1e-45, -1.8625622], [-0.84320116, np.inf, 1.3227198, 1.6546074, 1.9980385, -np.inf],
    [-0.1404109, -0.608137, 0.056872725, -2.495164, 0.95708454, -0.19808912], [2.966408, -1.0576801,
    1e-45, 2.2258732, np.nan, -1e-45], [0.5695003, -2.9667702, -0.30019295, -3.4028235e+38, np.inf,
    np.inf]], "float32")
X1 = np.array([[-2.9361658, -1.1183277, -1.4072132, 0.5928992, 1.1273487, 1.3766115], [1.1410599,
    -0.7519921, np.inf, -0.47549534, 1e-45, 2.9521384], [2.829203, -0.0, 0.0, -1e-45, -np.inf,
    -2.7359657], [1.3599124, -0.0, -0.33404124, 0.0, 2.1405118, 2.0356195], [-2.1696892, 1e-45,
    1.1754944e-38, -2.6701808, 1.9745857, -np.inf], [-0.21081889, -0.76004016, 0.0, 1.1754944e-38,
    -2.2311487, 2.1745694]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.atan2(x0, x1)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[-0.0, -np.inf, np.inf, 1.4133294, 2.540116, -1.2659208], [-0.5997213, -0.028255105, -0.0, -0.0, 1e-45, -1.8625622], [-0.84320116, np.inf, 1.3227198, 1.6546074, 1.9980385, -np.inf], [-0.1404109, -0.608137, 0.056872725, -2.495164, 0.95708454, -0.19808912], [2.966408, -1.0576801, 1e-45, 2.2258732, np.nan, -1e-45], [0.5695003, -2.9667702, -0.30019295, -3.4028235e+38, np.inf, np.inf]], "float32"))
    x1 = jax.numpy.array(np.array([[-2.9361658, -1.1183277, -1.4072132, 0.5928992, 1.1273487, 1.3766115], [1.1410599, -0.7519921, np.inf, -0.47549534, 1e-45, 2.9521384], [2.829203, -0.0, 0.0, -1e-45, -np.inf, -2.7359657], [1.3599124, -0.0, -0.33404124, 0.0, 2.1405118, 2.0356195], [-2.1696892, 1e-45, 1.1754944e-38, -2.6701808, 1.9745857, -np.inf], [-0.21081889, -0.76004016, 0.0, 1.1754944e-38, -2.2311487, 2.1745694]], "float32"))
    v2 = jax.numpy.arctan2(x0, x1)
    return v2.tolist()

try:
    expected = in_torch()
    actual = in_jax()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, jax {actual}".split())[:1000])
sys.exit(1)
