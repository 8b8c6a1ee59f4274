"""nn.functional.leaky_relu: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_activation.py::test_function[name='leaky_relu'], trial 2 of base seed 0.
semantic difference: a kink, where more than one gradient is right"""
import sys
import numpy as np

X0 = np.array([[6.74389527971796, 0.663052902629631, -2.297518490696684], [1.4916681462400413e-154,
    -4.500614853282173, -0.0], [-5.879036048458444, 0.7036659810255452, -2.2250738585072014e-308],
    [2.7021372773892613, -5e-324, 0.21805126801703256], [-3.9935717537869633, -4.600908259765056,
    2.2250738585072014e-308], [5e-324, 0.19894739702581443, 4.48993505729148]], "float64")
C2 = np.array([[-0.40756745080469564, 0.6873991230472506, -0.6165224582739388], [-0.59499630042032,
    0.6647646313137138, 0.7074926791322308], [-0.9660349034096911, 0.7827508786290461,
    0.1138836561393669], [-0.3593303880477359, -0.8132348455310785, 0.2769000345672744],
    [0.009621654063603269, -0.2954926428009313, 0.9999174672793619], [0.44749725290016473,
    0.39253056587512225, -0.5436172912817956]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.leaky_relu(x0)
    v1.backward(torch.tensor(C2))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[6.74389527971796, 0.663052902629631, -2.297518490696684], [1.4916681462400413e-154, -4.500614853282173, -0.0], [-5.879036048458444, 0.7036659810255452, -2.2250738585072014e-308], [2.7021372773892613, -5e-324, 0.21805126801703256], [-3.9935717537869633, -4.600908259765056, 2.2250738585072014e-308], [5e-324, 0.19894739702581443, 4.48993505729148]], "float64")).requires_grad_()
    v1 = paddle.nn.functional.leaky_relu(x0)
    c2 = paddle.to_tensor(np.array([[-0.40756745080469564, 0.6873991230472506, -0.6165224582739388], [-0.59499630042032, 0.6647646313137138, 0.7074926791322308], [-0.9660349034096911, 0.7827508786290461, 0.1138836561393669], [-0.3593303880477359, -0.8132348455310785, 0.2769000345672744], [0.009621654063603269, -0.2954926428009313, 0.9999174672793619], [0.44749725290016473, 0.39253056587512225, -0.5436172912817956]], "float64"))
    v1.backward(c2)
    t4 = x0.grad.detach()
    return t4.tolist()

try:
    expected = in_torch()
    actual = in_paddle()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch gives {expected}, paddle {actual}".split())[:1000])
sys.exit(1)
