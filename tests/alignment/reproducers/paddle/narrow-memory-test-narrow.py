"""narrow: its backward in a view with steps writes outside of its memory. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, paddle 3.3.1; test_indexing.py::test_narrow[dim=1], trial 6 of base seed 0.
paddle: the gradient is wrong, or the process aborts or hangs in its allocator, where torch returns"""
import subprocess, sys
import numpy as np

def in_torch():
    import torch
    v1 = torch.tensor(np.zeros((6, 13), "float32"))[:, 1:13:2].requires_grad_()
    torch.narrow(v1, 1, 1, 1).backward(torch.ones(6, 1))
    return v1.grad.tolist()

def in_paddle():
    import paddle
    v1 = paddle.to_tensor(np.zeros((6, 13), "float32"))[:, 1:13:2]
    v1.stop_gradient = False
    paddle.narrow(v1, 1, 1, 1).backward(paddle.ones([6, 1]))
    return v1.grad.tolist()

if sys.argv[1:]:
    try:
        import paddle
    except ImportError as error:
        sys.exit(print("cannot tell:", error) or 2)
    sys.exit(print("gives", in_paddle()))

try:
    expected = in_torch()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    run = subprocess.run([sys.executable, __file__, "child"], stdout=subprocess.PIPE, text=True, timeout=60)
except subprocess.TimeoutExpired:
    sys.exit(print("DIFFERS: torch returns, paddle gives no answer in 60 s") or 1)
if run.returncode == 2:
    sys.exit(print(run.stdout.strip()) or 2)
if run.returncode or f"gives {expected}" not in run.stdout:
    sys.exit(print(f"DIFFERS: torch gives {expected}, paddle {run.stdout.strip()} and status {run.returncode}") or 1)
print("same")
