"""nn.LayerNorm: torch:xla accepts what torch refuses.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_normalisation.py::test_of_another_dtype_is_refused[name='LayerNorm'], trial 0 of base seed 77.
torch:xla: it accepts what torch refuses
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

A0 = np.array([1.0, 1.0, 1.0, 1.0], "float32")
A1 = np.array([0.0, 0.0, 0.0, 0.0], "float32")


def program(torch):
    m0 = torch.nn.LayerNorm(4)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
        m0.bias.copy_(torch.tensor(A1))
    x0 = torch.tensor(X0, requires_grad=True)
    v3 = m0(x0)
    return {"m0": m0, "x0": x0, "x0.grad": x0.grad, "v3": v3}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float64", (3, 4, 4),
    "c-jGg0e}8Fu2PUYiQqrk*Nr`b|LwmjUPqRAYwka|i)<P79rwQgs%Oo^VNkz$Y?poK@Z!I^zeqPLG3h_<-@OQJUgkd~O>2="
    "}VCcUFN2{sD5A8q3w6#UJ2=>27T;qfeR`b6s8ciT!2Kc|oCFylQ0`<QegdCYQ)%QOX<MFaJcGy4J(VNLCD(}AuJUF)j&+o"
    "sxCir6i9Qi-Zix`+Q1mVB%e3Jl-Gr2!Kelwo*Z|}c)oOm%uUe&*Pi}waHN%_CZj-JIW=H9<k^%bR-!~Z{J?QtH1RpY-Q)V"
    "CSNAMC$+7$MzjhU`D(iMgq=A>qILks5)KY4*PmQ9!T{Bc;EjCy9K6#nV4MpmMh~#qmE)6zVNvD*QjBc0o)~1I@oe%9P^L)"
    "Zss6i{uR>KH<MXcUcolfZ)F>MZD0KujoGta^@vFhuFUzLsd!t66?Q$c51}Zo7TTQ5mbH<WBWgKu3s_7Tkt=aT7lRm;=n&D"
    ")$MKr{olXJ7RVZ?W&6K@Xvqu")


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
    expected, actual = run(torch), run(on_device)
    told = f"torch {expected}, torch:xla {actual}"
    accepted = expected != "returns" and actual == "returns"
    print(*("DIFFERS: " + told).split() if accepted else ["same"])
    sys.exit(1 if accepted else 0)
