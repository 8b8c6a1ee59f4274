"""nn.functional.embedding: torch:xla accepts what torch refuses. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.9.1+cu128, torch:xla 2.9.1+cu128; test_embedding.py::TestEmbedding.test_an_index_beyond_the_last_row_is_refused, trial 0 of base seed 77.
torch:xla: it accepts what torch refuses"""
import sys
import numpy as np

X0 = np.array([[0.32497144, 0.9990627], [0.110217035, 0.79006636], [0.8939169, 0.81946266],
    [0.9963139, 0.39083725], [0.6444245, 0.065051794], [0.42739546, 0.41969115], [0.47631866,
    0.49459374]], "float32")

def program(torch):
    x0 = torch.tensor(X0)
    x1 = torch.tensor(np.array([7, 6, 7], "int64"))
    return torch.nn.functional.embedding(x1, x0)

def run(framework):
    result = program(framework)
    return result.tolist() if hasattr(result, "tolist") else result

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
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
try:
    run(torch)
    sys.exit(print("cannot tell: torch accepts it, too") or 2)
except Exception as error:
    refusal = f"torch raises {type(error).__name__}: {error}"
try:
    result = run(on_device)
except Exception:
    sys.exit(print("same"))
print(*f"DIFFERS: {refusal}, torch:xla returns {result}".split())
sys.exit(1)
