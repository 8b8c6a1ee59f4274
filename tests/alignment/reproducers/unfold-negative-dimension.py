"""unfold: oneflow raises where torch does not.

torch 2.0.1+cu117, oneflow 0.9.0; test_convolution.py::TestWindows.test_tensor_unfold, trial 0 of base seed 0.
oneflow: it refuses or lacks what torch accepts
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import os
    os.environ.setdefault("GLOG_minloglevel", "3")  # OneFlow reads it once, now
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = x0.unfold(-1, 3, 1)
    return {"x0": x0, "x0.grad": x0.grad, "v1": v1}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (5, 6, 4),
    "c-jHr0U!Pz^+>-*j{-kmO=>^bwq3vSPg=fBB`rVe%|JgGp{_khfq*^HP|&_M;-o(A=uN*d$H%@aDPKQ2${4<z;#WVAX;(c"
    "2e<Ht7JC(eBu^K;x+ta?xt$jXkC{8~hWw1QO=|?}75$Ha~&NRQq=Hfn4gPOiD^CUgT)FnT53ogGt{5!uQ1!KNY?clszl_W"
    "kGn?k?F=TX0)NesW`xiLSQSWUmO4RO9$5?R03Nf$pA@BO~_xOzWA(x5)*q-DLPy|q3hYsI});50wQhc-X;o~XV+O7OeCfh"
    "j+TI0C)8dUC(MX4pQ+fCIfn@RGh@z$U-VX9PbH)I>kvaUZ{8j%&VYEw{eluyMbYI9flc{Cz)0`8vOYJ}^H-HBrB|3KqWs1"
    "YSS9z9GM|<_^DT+rB-TANW3rmm5D47frq@6hXdC63@OMYIwh7t$)9xH%mWT4{bj;wNF1I6dga)CM!RpYXQD!r~|#$y}Ul4"
    "l^(p@)dIgc)kQz5B`m(0-v2&c@<P9N_jNy>nlitzm1{kM>gPVhthBxI%(*^i<sv^Ke>uKIkY_*jJ_bMirh>j*9V|cOPtv{"
    "CxFWwGb_c(_|5`q(n4&&HL3qA8hjqRccV<7qY(_s><e0u9Vdy9")


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
    expected, actual = run(torch), run(oneflow)
    print("torch " + expected, "oneflow " + actual, sep="\n")
    if expected != "returns":
        sys.exit(2)
    sys.exit(1 if actual != "returns" else 0)
