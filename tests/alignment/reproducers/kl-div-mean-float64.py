"""nn.KLDivLoss: v6 differs in value between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_loss.py::TestDistances.test_kl_divergence, trial 7 of base seed 0.
oneflow: NumPy gives 0.185942208, as torch does"""
import sys
import numpy as np

X0 = np.array([[0.546605294640317, 0.8944361763489495, 0.9999999999999999, 0.8006591551020746,
    0.7013494463871497], [0.1, 0.1, 0.7120191286514594, 0.39359730857138403, 0.1],
    [0.2500746777260809, 0.4758693650073804, 0.1951697505632806, 0.8993384059945152,
    0.8850230439549956], [0.28772597256386184, 0.16158795824613004, 0.2503643779095443,
    0.9999999999999999, 0.5826214991908356]], "float64")
X1 = np.array([[113.0, 113.0, 113.0, 113.0, 113.0], [0.9999999999999999, 0.19541192487225262, 0.1,
    0.10844894256323036, 0.2989060738986029], [0.12034156291754905, 0.9999999999999999, 0.1,
    0.453786138560753, 0.47606575929466144], [0.16548323186710723, 0.10621731186530026,
    0.3005479738327394, 0.9999999999999999, 0.40954056839818465], [0.9240277795820306,
    0.17406968170077747, 0.785718172823856, 0.15660202103676635, 0.2009764909726193], [113.0, 113.0,
    113.0, 113.0, 113.0]], "float64")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    x1 = torch.tensor(X1)
    v2 = x1[1:5:1,]  # layout
    v3 = v2.requires_grad_()  # layout
    m4 = torch.nn.KLDivLoss(reduction="mean", log_target=False)
    v5 = torch.log(x0)
    v6 = m4(v5, v3)
    v6.backward(torch.tensor(np.array(0.44953532433854393, "float64")))
    return v6

try:
    import torch
    import oneflow
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(oneflow).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 1e-09, 1e-09, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, oneflow {actual}".split())
sys.exit(1)
