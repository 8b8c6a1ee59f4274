"""nn.functional.selu: v1.grad differs in gradient between torch and torch:xla.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::test_function[name='selu'], trial 0 of base seed 77.
torch:xla: difference of its own forward gives 0.00323104748 at (1, 0, 2), as torch does
Compared: v1.grad.
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

def program(torch):
    x0 = torch.tensor(X0)
    v1 = x0[:, :, 1:7:2]  # layout
    v2 = v1.requires_grad_()  # layout
    v3 = torch.nn.functional.selu(v2)
    v3.backward(torch.tensor(C4))
    return {"v1.grad": v1.grad}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float64", (3, 6, 7),
    "c-muN00M^?2j8}Hk^!ID4=_OahS&EAUCZQ$^X;-2-aAJM!}&0J`@P)~7gZ$Se4Zfv*Xxdo!_~3YKmNB}NX7wOU!msZ5RSD"
    "1aDGyx&!)$RzVC<eeZN|##^=gn=&KOATcW!Ey*-ToqWjFJ%rFFhMy`Q;GQ$gdbbXDR=dV7yUkJ_@y7<XNC;1!PzQsp&`io"
    "x@!>}*0)j};i3K0$}ZhyOi>_y@HmVWlolw*(fqwDi}+q-GK{SUbKQkO?slD~N1`hJvtSh<Tq0wX-59-b1B;o*eyWhX4_c$"
    "vzFh=<3~{XwnF81Cf1s$Xq?OCHXbFy;SJ#3l&WCm|yI?ZsXZ4EyR%Px!$d#|r1)a}oWrrT}5T+~)aPyLe<U^v!i{>3h722"
    "`*k{f8<})Pel4qQDxnDHcJ{qpLqHzF^;!_aK8R*l~#|dh<JH<Iy%<51vB11Phj4+N=+2b-?SrZ$80%7I9#!qa3%T2ON@9}"
    "W)r^VXdgnIo-6Z)v#Z45?s~8FApP|{2@Lyo9+Ew)H<JslPOG6;%U|(7-26Fu3j1@o{$ZrES&z!DFRbB%^LOmo$NJhr2yV`"
    "cc~<v#<X^*Zr|qg=(<S~R^24oV$8%<FN2H$zC%zj0P?f_7&sB~m6SvuN!}(__vaT3QBjSDTzL|YD4>7~}0EJ@<=l")
C4 = packed("float64", (3, 6, 3),
    "c-jH50Z;yM1FzfI^xVI6iAFP!(6+w;i5paJ8|OcwQ@LTgV#>d=-mk-s3+2BQyf^TNM$bRIM=zt&4dTB|+VHy4+w4EU=(6j"
    "6ae_ZMa8i*&;_kof7BzFWcEmsYE18%t6XCzi^G%3wx#z$9E^Y_7x$nOsHh@qj*TBEAFP(0!bm>3qSq+RrspCI%o^<0EueQ"
    "I9GCfxX@8v(3gJqnWr@TKmukZ;IzUM#CeP_?7eXBp98YW!32cJKsRGvykj^4i+>(R8LwdX&TtWUwm$>l#n^jFmmujRi~wP"
    "E?#E#$vsA4fki-nze5UwnXF9os)E)Q`MG7VAG{uMXIY#oE6T@RMcIL)Jg+&|9D@VCcWVRMOXZ-tND<mbNfYuI4{$^g~TUL"
    "*hT%(a`C-<LW;l?c5>mEZ@K56LzdAu<t){*a`KpEaN|~+CcF&2jf4AZCv1F645_BQxq<#0_i^(g}p|yiS55{C-2e0zvw?o"
    "^nNH-zuG@&mpm=k{k%Ummr<NO0Ng+Ry!i;DYwf?voND@f_`tsw<kaT7xaPmr6Jl@Rtm{88WLg4JNTojyvg`o")


TOLERANCE = {  # rtol and atol by dtype: |actual - expected| <= atol + rtol * |expected|
    "float16": (0.001, 0.001), "bfloat16": (0.016, 0.01), "float32": (0.0001, 1e-05),
    "float64": (1e-09, 1e-09), "complex64": (0.0001, 1e-05), "complex128": (1e-09, 1e-09),
}


def observe(value):
    """All of `value` that is compared, as plain data."""
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
