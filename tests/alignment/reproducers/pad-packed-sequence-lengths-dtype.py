"""nn.utils.rnn.pad_packed_sequence: v2[1] differs in dtype between torch and oneflow. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_networks.py::test_sequences_are_unpacked_with_their_lengths, trial 0 of base seed 0.
torch is the specification: oneflow differs in dtype; nobody else has an opinion"""
import sys
import numpy as np

def program(torch):
    x0 = torch.tensor(np.array([[0.0], [0.0], [0.0]], "float32"))
    v1 = torch.nn.utils.rnn.pack_padded_sequence(x0, [1, 1, 1], batch_first=True)
    v2 = torch.nn.utils.rnn.pad_packed_sequence(v1)
    return v2[1]

try:
    import torch
    import oneflow
    expected = str(program(torch).dtype).split(".")[-1]
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)
actual = str(program(oneflow).dtype).split(".")[-1]
if expected == actual:
    sys.exit(print("same"))
print(*f"DIFFERS: torch has dtype {expected}, oneflow {actual}".split())
sys.exit(1)
