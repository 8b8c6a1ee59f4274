"""nn.ConvTranspose2d: v4.grad differs in gradient between torch 2.13 and torch 2.0. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, torch 2.0 2.0.1+cu117 (Python 3.10.13); test_convolution.py::test_transposed_convolution[rank=2], trial 6 of base seed 0.
nondeterministic: torch 2.0 gives different results in two runs"""
import json, subprocess, sys
import numpy as np

def in_torch():
    import torch
    torch.empty(4).fill_(7.0)  # what a part of the gradient may be read from
    m0 = torch.nn.ConvTranspose2d(1, 1, 1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array(0.0, "float32")))
        m0.bias.copy_(torch.tensor(np.array(0.0, "float32")))
    x0 = torch.tensor(np.zeros((2, 1, 2, 1), "float32"))
    v4 = x0.transpose(1, 3).transpose(2, 3)
    v5 = v4.requires_grad_()
    m0(v5).backward(torch.tensor(np.full((2, 1, 1, 2), -1.0, "float32")))
    return v4.grad.tolist()

OTHER = ""
python = sys.argv[1] if sys.argv[1:] else OTHER
if not python:
    sys.exit(print("cannot tell: name the interpreter that has torch 2.0 on the command line") or 2)

if sys.argv[1:] == ["child"]:
    try:
        print(json.dumps({"gives": in_torch()}, default=str))
    except ImportError as error:
        sys.exit(print("cannot tell:", error) or 2)
    except Exception as error:
        print(json.dumps({"raises": f"{type(error).__name__}: {error}"}))
    sys.exit()

def elsewhere():
    # What in_torch comes to in the other interpreter.
    run = subprocess.run([python, __file__, "child"], stdout=subprocess.PIPE, text=True)
    if run.returncode < 0:
        raise RuntimeError(f"ends by signal {-run.returncode}")
    if run.returncode:
        sys.exit(print("cannot tell:", run.stdout.strip()) or 2)
    came = json.loads(run.stdout.strip().splitlines()[-1])
    if "raises" in came:
        raise RuntimeError(came["raises"])
    return came["gives"]

try:
    expected = in_torch()
    actual = elsewhere()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
if np.shape(expected) == np.shape(actual) and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(" ".join(f"DIFFERS: torch 2.13 gives {expected}, torch 2.0 {actual}".split())[:1000])
sys.exit(1)
