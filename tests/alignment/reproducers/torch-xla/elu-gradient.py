"""nn.CELU: x0.grad differs in gradient between torch and torch:xla. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_activation.py::TestWithParameters.test_elu_and_celu, trial 0 of base seed 77.
torch:xla: difference of its own forward gives -0.133004624 at (5, 2), as torch does"""
import sys
import numpy as np

X0 = np.array([[-1.1116619, 1.3280838, -0.57764447, -1.6862841, 2.2994707], [-1.3223324, -1.27803,
    -0.75820696, 0.51509225, 2.6084578], [-1.7993338, 2.0852385, -1.2709646, -2.8106785, -2.837749],
    [-1.4110165, -0.0035924911, -0.4111266, -2.655944, -2.257215], [-2.1922598, -0.4564327,
    0.8093041, -1.5414577, 1.8714049], [1.7665322, -2.489406, -2.4454346, -1.6621456, 2.1571267]],
    "float32")
C5 = np.array([[0.1072942, -0.6747004, -0.5851861, -0.29166007, -0.7834996], [-0.3133074, -0.709949,
    -0.10348511, 0.78897023, 0.17978275], [0.6032896, 0.39791358, -0.24260616, 0.330662,
    0.86295366], [-0.15550959, 0.24431372, 0.9377563, -0.47649264, -0.44927824], [0.33219218,
    0.18299413, 0.42141902, 0.7789751, -0.9310571], [-0.8552439, -0.6268194, -0.04500115,
    0.70685947, -0.95412076]], "float32")
C6 = np.array([[-0.7048402, -0.56008756, -0.025834799, -0.3941934, -0.9509171], [0.89514005,
    0.28733635, 0.6670618, -0.49171114, -0.35872948], [0.799101, 0.84394705, -0.66639805,
    0.42040408, 0.4997474], [0.8816649, 0.067655206, 0.75840914, -0.26185644, 0.5794077],
    [0.88747156, 0.038967013, -0.0063744783, -0.8042394, -0.36147118], [-0.01547575, -0.014720678,
    -0.85219765, -0.54299474, 0.102365494]], "float32")

def program(torch):
    x0 = torch.tensor(X0, requires_grad=True)
    m1 = torch.nn.ELU(alpha=1.3165656473155583)
    v2 = m1(x0)
    m3 = torch.nn.CELU(alpha=1.3165656473155583)
    v4 = m3(x0)
    torch.autograd.backward([v2, v4], [torch.tensor(C5), torch.tensor(C6)])
    return x0.grad

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
