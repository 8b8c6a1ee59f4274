"""gather: v2 differs in value between torch 2.13 and torch 2.0. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.13.0+cpu, torch 2.0 2.0.1+cu117 (Python 3.10.13); test_indexing.py::test_gather[dim=0], trial 12 of base seed 0.
torch 2.0: NumPy gives 0 at (0, 0), as torch 2.13 does"""
import json, subprocess, sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([[0.0, 2.0], [0.0, 0.0]], "float32"))
    x1 = torch.tensor(np.array([[1]], "int64"))
    return torch.gather(x0, 0, x1).tolist()

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
