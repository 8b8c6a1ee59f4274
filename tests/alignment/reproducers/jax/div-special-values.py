"""div: v2 differs in value between torch and jax. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, jax 0.10.2; test_elementwise.py::test_arithmetic_of_special_values[name='div'], trial 1 of base seed 0.
jax: it is further from the float64 result than rounding explains"""
import sys
import numpy as np

X0 = np.array([[1e-45, 1.3216662, np.nan, 1.9794766, 1.1128752, -0.9555541], [np.nan, 0.6761644,
    np.inf, 1.718848, -0.07354057, -1.9593773], [0.29982865, -0.3518616, -3.4028235e+38, 1e-45,
    1.8014076, 0.0], [np.inf, 1.1754944e-38, -1e-45, 1.9327352, -2.0698156, -1.7597952], [1.2189823,
    2.9417202, 0.722749, -2.9654381, 2.075939, 0.75905967], [1.6225468, -0.8669652, 1.2519047,
    1.2266405, 0.84856, -2.0601876]], "float32")
X1 = np.array([[0.0, 1.3612759, 1e-45, -2.53442, -0.86020243, 1.7038156], [np.nan, -0.0007214546,
    -1.7844057, -2.8085384, -np.inf, -1.0041876], [-2.151437, -2.9348235, 2.151281, 1.1754944e-38,
    -0.1438433, 2.7164505], [-1.1018643, 2.6912072, 1.1754944e-38, 2.0580485, 3.4028235e+38, 1e-45],
    [0.98685825, -2.0838714, 2.9587688, 1.7020509, -2.1929145, 1.4348471], [-1e-45, -1.3768187,
    -0.5165285, -2.2806368, 2.881426, 0.35192955]], "float32")

def in_torch():
    import torch
    x0 = torch.tensor(X0)
    x1 = torch.tensor(X1)
    v2 = torch.div(x0, x1)
    return v2.tolist()

def in_jax():
    import jax
    jax.config.update("jax_enable_x64", True)
    x0 = jax.numpy.array(np.array([[1e-45, 1.3216662, np.nan, 1.9794766, 1.1128752, -0.9555541], [np.nan, 0.6761644, np.inf, 1.718848, -0.07354057, -1.9593773], [0.29982865, -0.3518616, -3.4028235e+38, 1e-45, 1.8014076, 0.0], [np.inf, 1.1754944e-38, -1e-45, 1.9327352, -2.0698156, -1.7597952], [1.2189823, 2.9417202, 0.722749, -2.9654381, 2.075939, 0.75905967], [1.6225468, -0.8669652, 1.2519047, 1.2266405, 0.84856, -2.0601876]], "float32"))
    x1 = jax.numpy.array(np.array([[0.0, 1.3612759, 1e-45, -2.53442, -0.86020243, 1.7038156], [np.nan, -0.0007214546, -1.7844057, -2.8085384, -np.inf, -1.0041876], [-2.151437, -2.9348235, 2.151281, 1.1754944e-38, -0.1438433, 2.7164505], [-1.1018643, 2.6912072, 1.1754944e-38, 2.0580485, 3.4028235e+38, 1e-45], [0.98685825, -2.0838714, 2.9587688, 1.7020509, -2.1929145, 1.4348471], [-1e-45, -1.3768187, -0.5165285, -2.2806368, 2.881426, 0.35192955]], "float32"))
    v2 = jax.numpy.divide(x0, x1)
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
