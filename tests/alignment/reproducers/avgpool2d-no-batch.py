"""nn.AvgPool2d: oneflow crashes, torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_pooling.py::test_without_a_batch[kind='AvgPool', rank=2], trial 0 of base seed 1.
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
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.AvgPool2d(3)
    v2 = m1(x0)
    return {"x0": x0, "x0.grad": x0.grad, "m1": m1, "v2": v2}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (3, 6, 6),
    "c-jH50Z;z(Yg#|xcey-*qFlcs{vE!$eLTMWDjGg_pIbki<9t3%mtsHCFl4^&^BKQVtJ6LhTsptBs%yWJT2sETZWlcywnsh"
    "+gnYg<5@x@n%OXF5K1sfQ>tDa(&ojRI?|Qz<LR7v;UfMmqJ<z_76GuO!!!f_8`#`^ejQPH#Ot!sH7?->=x<fzy$6UWB$9q"
    "5B#jCzcf+j!m;(xx9Iov*N=;*%WXCyv~CV#)^MDRU}^BO;Lxg)-HkU>Ad_e{Tf`{_PzZzjJrLLxuXT&q4ACT%}RSWv$Z=N"
    "`YC4t_uV*fl?=sZc+)R3txGb9=vnDFDCTEBQXah9tjD!+t+P`<^~TqJh1R6mP#Ismi_jqe;Gn8$&-a9K^oKr?bAA_YS}Qu"
    "j@WKGAO@IYau_;oT|RJVirGh(pWzvkQP2(n@_*=W@x{5^36W<0ZzZ{VphL`CkDPJ17$yiSgXA-)C#{Dl-9mlxhB5rbPGQ="
    "77f3qD5E~WFfG5tm$AKWUjn}hX2?Dit3y6GeVaXG7Qnrh6)L~7NK?M=I9)$fT|&S3Z=XHwufo1cB7DD&B-Ga")


def run(framework):
    """How the program ends; reading the values waits for what is still being computed."""
    try:
        for value in program(framework).values():
            if hasattr(value, "tolist"):
                value.tolist()
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
