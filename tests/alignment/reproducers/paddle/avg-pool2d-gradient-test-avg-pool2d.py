"""nn.functional.avg_pool2d: x0.grad differs in gradient between torch and paddle. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_pooling.py::TestFunctional.test_avg_pool2d, trial 7 of base seed 0.
paddle: difference of its own forward gives -0.189173056 at (0, 0, 3, 0), as torch does"""
import sys
import numpy as np

X0 = np.array([[[[0.0, 0.0, 5.383460788685088], [3.4703214350897125, 2.6037538276724956,
    -0.08561666738687734], [-0.0, -0.0, 4.400645688781894], [0.4120458859105146, 1.2607396059253344,
    0.7576993593443857], [2.300919791265567, 1.0693889435865171, 3.716734028387023]],
    [[1.6434137452611202, 3.1381290256250662, 2.804894725858112], [-0.0, 5.459138870056752,
    4.395205597809636], [-0.0, 0.0, 3.8725023509795613], [3.955290671997772, 2.0309052857810737,
    0.0], [6.038977312291427, 0.0, -0.4278267053336685]]]], "float64")
C2 = np.array([[[[0.0742581053314354], [-0.856621004911142], [-0.8459364958304967]],
    [[0.2510908072718284], [-0.09679448493518988], [0.34031313116316053]]]], "float64")

def in_torch():
    import torch
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.functional.avg_pool2d(x0, 3, stride=1)
    v1.backward(torch.tensor(C2))
    return x0.grad.tolist()

def in_paddle():
    import paddle
    x0 = paddle.to_tensor(np.array([[[[0.0, 0.0, 5.383460788685088], [3.4703214350897125, 2.6037538276724956, -0.08561666738687734], [-0.0, -0.0, 4.400645688781894], [0.4120458859105146, 1.2607396059253344, 0.7576993593443857], [2.300919791265567, 1.0693889435865171, 3.716734028387023]], [[1.6434137452611202, 3.1381290256250662, 2.804894725858112], [-0.0, 5.459138870056752, 4.395205597809636], [-0.0, 0.0, 3.8725023509795613], [3.955290671997772, 2.0309052857810737, 0.0], [6.038977312291427, 0.0, -0.4278267053336685]]]], "float64")).requires_grad_()
    v1 = paddle.nn.functional.avg_pool2d(x0, 3, stride=1)
    c2 = paddle.to_tensor(np.array([[[[0.0742581053314354], [-0.856621004911142], [-0.8459364958304967]], [[0.2510908072718284], [-0.09679448493518988], [0.34031313116316053]]]], "float64"))
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
