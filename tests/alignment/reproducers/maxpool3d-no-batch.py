"""nn.MaxPool3d: oneflow crashes, torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_pooling.py::test_without_a_batch[kind='MaxPool', rank=3], trial 0 of base seed 0.
oneflow: crash, where torch returns
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import os
import signal
import subprocess
import sys
import zlib

import numpy as np

try:
    import torch
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

def program(torch):
    m0 = torch.nn.MaxPool3d(3)
    x0 = torch.tensor(X0)
    v2 = m0(x0)
    return {"m0": m0, "x0": x0, "v2": v2}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (2, 3, 3, 3),
    "c-jHj04M*xnz%kbqv1Zk25vv)dOSbk1#!PaRYX4o6ZXCB&@(^i98kU0R=&P%!;ijIhmO8-JygHWy-B~q9SOfkOu;=#s{}v"
    "v%S^wPx!XQ$wE@3zJr6$uxu!k>YoI=vC*r>7OR_xybrC;+DvCR4)4#s;z$!n+&g4F7Jp4YX^zyzscwoP^K1)9Uk@~u+AY?"
    "xl^}jw~VURot<H^3zjP<<Os7=4NASA!feRMyFt9idx<2Jw0ax=eNT24NJ#gD#>DNety)D=I3n}faH4%j~1Xg5Fdyi2|+A8"
    "fV")


def read(value):
    """Wait for all of `value`, which may still be being computed."""
    if isinstance(value, (dict, tuple, list)):
        for item in value.values() if isinstance(value, dict) else value:
            read(item)
    elif hasattr(value, "tolist"):
        value.tolist()


def run(framework):
    """How the program ends."""
    try:
        read(program(framework))
        return "returns"
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    if sys.argv[1:] == ["--side", "oneflow"]:
        print("oneflow " + run(oneflow), flush=True)
        os._exit(0)
    print("torch " + run(torch), flush=True)
    try:
        command = [sys.executable, __file__, "--side", "oneflow"]
        child = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=60)
    except subprocess.TimeoutExpired:
        print("oneflow hangs: no answer in 60 s")
        sys.exit(1)
    status = signal.Signals(-child.returncode).name if child.returncode < 0 else child.returncode
    print(child.stdout if (child.returncode == 0 and child.stdout) else f"oneflow dies: {status}")
    sys.exit(0 if (child.returncode == 0 and child.stdout) else 1)
