"""nn.ConvTranspose1d: torch:xla accepts what torch refuses.

torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_convolution.py::test_transposed_convolution[rank=1], trial 0 of base seed 77.
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

A0 = np.array([[[0.0049687205], [-0.37441987], [-0.37289187]], [[0.4731035], [0.3652985],
    [0.5278775]], [[0.16642497], [0.52345103], [-0.06519194]]], "float32")


def program(torch):
    m0 = torch.nn.ConvTranspose1d(
        in_channels=3, out_channels=3, kernel_size=(1,), padding=1, output_padding=2, dilation=1,
        bias=False,
    )
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(A0))
    x0 = torch.tensor(X0, requires_grad=True)
    v3 = m0(x0)
    return {"m0": m0, "x0": x0, "x0.grad": x0.grad, "v3": v3}


def packed(dtype, shape, text):
    """The array whose compressed bytes `text` is."""
    return np.frombuffer(zlib.decompress(base64.b85decode(text)), dtype).reshape(shape)


X0 = packed("float32", (3, 3, 5),
    "c-jH9089VeHg!K#MG8N#Xn;O|<Ul^0Ktey#5of;~y0yL*0VcoBbWOi3cql(myrsUNgOomg&mcd5H-WxTY_Yy7sbN2cY(PI"
    "g5=6gHwF^F8K5oB?mny#`wi!P%>oY%ivuwZkB0Ile_E^0*S4lrW@fJSND&@VL)kDAVNxVLQTqZw6F_}K#7x2E=dt1I-d__"
    "M-P*gu$_K3bfZO^`_eQG`!$#=d08P+`jnsPrtv_CzJ2hhIfB~U^")


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
