"""nn.utils.rnn.pack_padded_sequence: v1[0] differs in value between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_networks.py::test_sequences_are_unpacked_with_their_lengths, trial 0 of base seed 77.
torch is the specification: torch:xla differs in value, in float64 too; nobody else has an opinion"""
import sys
import numpy as np

X0 = np.array([[[0.23050272, -0.17419624], [0.72138727, 0.7552297], [-0.35771668, -0.9477725],
    [0.16011727, -0.19206262], [-0.6405381, -0.4766202]], [[-0.22996664, -0.12596452], [0.40296066,
    -0.3541683], [-0.28740048, -0.7265389], [0.29354453, -0.66100955], [-0.014125109, -0.15833306]],
    [[0.14728582, 0.14609432], [0.58300257, 0.70849085], [0.8600333, -0.3658563], [-0.9684683,
    -0.42092133], [0.44275928, -0.9884912]]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    v1 = torch.nn.utils.rnn.pack_padded_sequence(x0, [5, 3, 2], batch_first=True)
    return v1[0]

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
    expected = np.array(program(torch).tolist())
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = np.array(program(on_device).tolist())
if expected.shape == actual.shape and np.allclose(actual, expected, 0.0001, 1e-05, equal_nan=True):
    sys.exit(print("same"))
print(*f"DIFFERS: torch gives {expected}, torch:xla {actual}".split())
sys.exit(1)
