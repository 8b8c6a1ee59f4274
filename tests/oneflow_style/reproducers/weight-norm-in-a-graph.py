"""nn.Linear: nn.Graph of oneflow differs from its eager mode. Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
torch 2.0.1+cu117, oneflow 0.9.0; test_graph_mode.py::test_a_normalised_weight_in_a_graph.
oneflow: its eager mode agrees with torch, nn.Graph does not: it calls no hooks, and the weight is not computed anew"""
import sys
import numpy as np

try:
    import torch  # brings libraries that OneFlow needs
    import oneflow
except Exception as error:
    sys.exit(print("cannot tell:", error) or 2)

def layer(torch):
    m0 = torch.nn.Linear(1, 1)
    with torch.no_grad():
        m0.weight.copy_(torch.tensor(np.array([[1.0]], "float32")))
        m0.bias.copy_(torch.tensor(np.array([0.0], "float32")))
    torch.nn.utils.weight_norm(m0)
    with torch.no_grad():
        m0.weight_g.mul_(2)
    return m0

class Graph(oneflow.nn.Graph):
    def __init__(self):
        super().__init__()
        self.m0 = layer(oneflow)

    def build(self, x0):
        return self.m0(x0)

x0 = np.array([[1.0]], "float32")
torchs = layer(torch)(torch.tensor(x0)).tolist()
eager = layer(oneflow)(oneflow.tensor(x0)).tolist()
if eager != torchs:
    sys.exit(print(f"cannot tell: torch gives {torchs}, oneflow in eager mode {eager}") or 2)
graph = Graph()(oneflow.tensor(x0)).tolist()
if graph == eager:
    sys.exit(print("same"))
print(f"DIFFERS: torch and oneflow in eager mode give {eager}, nn.Graph {graph}")
sys.exit(1)
