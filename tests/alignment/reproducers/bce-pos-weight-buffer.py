"""nn.BCEWithLogitsLoss: its parameters or buffers are called or shaped otherwise in oneflow than in torch. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_loss.py::test_binary_cross_entropy_with_logits[weighted=True], trial 0 of base seed 0.
semantic difference: in structure; no third opinion on which side is right"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array(0.0, "float32"))
    m1 = torch.nn.BCEWithLogitsLoss(pos_weight=x0)
    return {name: tuple(item.shape) for name, item in [*m1.named_parameters(), *m1.named_buffers()]}

try:
    import torch
    import oneflow
    expected = program(torch)
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = program(oneflow)
print("torch:", expected, "oneflow:", actual, sep="\n")
sys.exit(expected != actual)
