"""setitem: torch 2.13 raises where torch 2.0.1 does not. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, torch 2.13 2.13.0+cpu (Python 3.11.2); test_indexing.py::TestWriting.test_assignment_through_an_expanded_view, trial 0 of base seed 0.
torch 2.13: it refuses or lacks what torch accepts"""
import json, subprocess, sys
import numpy as np

def in_torch():
    import torch
    x0 = torch.tensor(np.array([0.0], "float32"))
    v1 = x0.expand((2,))  # layout
    v1[0:] = 0
    return v1.tolist()

OTHER = ""
python = sys.argv[1] if sys.argv[1:] else OTHER
if not python:
    sys.exit(print("cannot tell: name the interpreter that has torch 2.13 on the command line") or 2)

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
    in_torch()
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    elsewhere()
    print("same")
except ImportError as error:
    sys.exit(print("cannot tell:", error) or 2)
except Exception as error:
    print(*f"DIFFERS: torch 2.0.1 returns, torch 2.13 {error}".split())
    sys.exit(1)
