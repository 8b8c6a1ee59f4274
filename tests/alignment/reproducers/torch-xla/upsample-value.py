"""nn.Upsample: v2 differs in value between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_shape.py::TestResampling.test_upsample_by_a_factor, trial 0 of base seed 77.
torch:xla: NumPy gives 0.00588647525 at (0, 1, 0, 5), as torch does
Compared: v2.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import base64
import sys
import zlib

import numpy as np

try:
    import torch
    import torch_xla
    torch.empty(1, device='xla')
    from typing import Any
    class OnDevice:
        """torch, or a module of it, whose functions put what they make on a device."""

        def __init__(self, inner: Any, device: str) -> None:
            self.inner, self.device = inner, device
        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inner, name)
            return OnDevice(found, self.device) if callable(found) or hasattr(found, "__path__") else found
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            import torch
            with torch.device(self.device):
                return self.inner(*args, **kwargs)
    on_device = OnDevice(torch, 'xla')
except (ImportError, OSError) as error:
    print("cannot tell:", error)
    sys.exit(2)

X0 = np.array([[[[1.4971868, -0.13342077, -1.4802892], [-1.5513182, -1.0083351, -0.82540923],
    [-1.5575149, 1.1999449, 1.5379144], [0.1580168, -0.4145866, 0.9004823]], [[1.3979253,
    -0.25611573, 0.5298909], [-0.35213023, -0.7580686, -1.2127969], [-1.8039002, -1.0778894,
    -1.737653], [-0.18182212, 1.6802157, 1.2947973]]]], "float32")


def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.Upsample(scale_factor=3.0, mode="bilinear")
    v2 = m1(x0)
    v2.backward(torch.tensor(C3))
    return {"v2": v2}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


C3 = packed("float32", (1, 2, 12, 9),
    "c-jTQ4N%hs6aeslBX+bpMKg~8V|d~am39LWVS8`T@DL_4Zr~1vp^%_p$B_~l&>{lvqz+-{P4Bv<EF}{h*Ze@X_jYRB@D_o"
    "RVd=&BIZ0s=*UhO{zhB=#BTepFf;n$Tv);Rc8$Vx<o=OdQI?YtoV*~N@cJ$|0vf=$BAo@y)`y=`(pbMp%?^mKbN~@9&W?)"
    "LJ9B(gsME;Zapffl@%TGn}c&ivJgYEEd?59|em%-`}3RLzDe^avOCD|{QvR09Wmv+SA!Av81-}{DYPc?B>X*MOVn1K;4$N"
    "QfJNvMnm$!sjvb3IyKrh)KD2`he3vHMINH?K9at@1IX_5#kf*0Arw9T0Nclw}Q9plri>uvSHJ@h&mblYN{Yx{~L`oA~-)b"
    "!<p7lH;frU;Sx@{O|g}BAFni%mMRRI&^L;;WH_>K>m)1%!O;PqwhQwH0JQ$i0$k>FhbUjOfvlz<`k4O)K$F`r^lB<3nj7o"
    "=sNTc{YR!?xl+6K4PF@RBK@K{5`Mn{()wnUZ@LTqYj0uA^Jt!a?MG<6Dr0xifKwRwb~xTp0h3$CXus_uc?;6fHy;8o3V$W"
    "@sz1PI(ULV+gvGC<vqwKl$HZmm4mYYa)jgmIWOG%Tm<&mwJgIV#kddbJ4eujO%+F-2?W3^V=g@sv!oJPDWSz3RQWN^Y`rQ"
    "o@&h@yG_f((*Be~;TGy1p0vnlDm>xFI!cS#f3)T`sRkIHfCX%w8iw;PMi325u?0%QL{_Jr)9nf4HNYo0nEzMhI-*RSErD8"
    "uAHBunq;NS#|jrf7vS%q(Vy<r!HoCBnk->u`Ic97ozp*cY>nBZh{kZ0xctV2C4=r_XiQw3n?-acn3`q^s(WS)H!tww7>o|"
    "EZwbpp1QAj??PXI$pPWf_$?l$Wr|#v@Y)e!_o^>^gzW^4rH%3k?qkBKz&6_6-TbYWWNX(MsGsG;~3WbGD<myQVe7-2EFnY"
    "JjuypLs%-Md?DgvEfN;X(s|0cKpM>+o}V+KBy%x$&o!}-b$(cTvlAN3|G@ZJEet$MVCkWqe0o(ih8MPzCC@?D;YF?wdqk+"
    "0x*&L<0jD30fhB(<?|vx9I{Q}4Jg(sX0Ufob76")


TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|
    "float16": (0.001, 0.001), "bfloat16": (0.016, 0.01), "float32": (0.0001, 1e-05),
    "float64": (1e-09, 1e-09), "complex64": (0.0001, 1e-05), "complex128": (1e-09, 1e-09),
}


def observe(value):
    """All of `value` that is compared, as plain data."""
    if isinstance(value, (tuple, list)):
        kind = "list" if isinstance(value, list) else "tuple"
        return {"type": kind, "length": len(value), **{at: observe(item) for at, item in enumerate(value)}}
    if isinstance(value, dict):
        return {"keys": ", ".join(map(repr, value)), **{key: observe(item) for key, item in value.items()}}
    if not hasattr(value, "requires_grad"):
        return value if type(value).__module__ == "builtins" else type(value).__name__
    facts = {"type": "tensor", "shape": tuple(value.shape), "dtype": str(value.dtype).split(".")[-1]}
    facts |= {"device": value.device.type, "requires_grad": value.requires_grad}
    return {**facts, "values": np.array(value.detach().cpu().tolist())}


def differences(name, expected, actual, dtype="float32"):
    """Where `actual` is not the reference's `expected`, a line each. Nothing broadcasts."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        for key in [key for key in {**expected, **actual} if key not in ("device",)]:
            deeper = f"{name} {key}".strip()
            yield from differences(deeper, expected.get(key), actual.get(key), expected.get("dtype", dtype))
    elif type(expected) is not type(actual) or np.shape(expected) != np.shape(actual):
        yield f"{name}: expected {expected}, actual {actual}"
    else:
        e, a = np.asarray(expected), np.asarray(actual)
        rtol, atol = TOLERANCE.get(dtype, (0, 0))
        equal = np.isclose(a, e, rtol, atol, equal_nan=True) if e.dtype.kind in "fc" else np.asarray(a == e)
        for at in np.argwhere(~equal)[:1].tolist():
            many = f"{(~equal).sum()} of {e.size} differ, at {at}: " if at else ""
            yield f"{name}: {many}expected {e[tuple(at)]}, actual {a[tuple(at)]}"


def run(framework):
    try:
        return {name: observe(value) for name, value in program(framework).items()}
    except Exception as error:
        return f"raises {type(error).__name__}: {error}"


if __name__ == "__main__":
    expected, actual = run(torch), run(on_device)
    if isinstance(expected, str):
        sys.exit(print("cannot tell: torch", expected) or 2)
    found = ["torch:xla " + actual] if isinstance(actual, str) else list(differences("", expected, actual))
    print(*("DIFFERS: " + "; ".join(found) if found else "same").split())
    sys.exit(1 if found else 0)
