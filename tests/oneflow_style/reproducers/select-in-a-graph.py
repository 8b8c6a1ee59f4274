"""select: OneFlow does it in eager mode, and refuses it in nn.Graph.

torch 2.0.1, oneflow 0.9.0; test_let_through.py::TestLetThrough.test_select_in_a_graph.
Exits with 1 if the difference still exists, 0 if it is gone, 2 if it cannot tell.
"""

import sys

import numpy as np

try:
    import torch  # brings libraries that OneFlow needs
    import oneflow
except (ImportError, OSError) as error:
    print("cannot run:", error)
    sys.exit(2)


def program(x):
    return oneflow.select(x, 0, 1)


class Graph(oneflow.nn.Graph):
    def build(self, *inputs):
        return program(*inputs)


inputs = [oneflow.tensor(array) for array in (np.ones((3, 4), "float32"),)]
expected = program(*inputs).numpy()
try:
    actual = Graph()(*inputs).numpy()
except Exception as error:
    print("eager mode gives", expected, "and nn.Graph raises", type(error).__name__, error)
    sys.exit(1)
print("eager mode gives", expected, "and nn.Graph", actual)
sys.exit(not np.array_equal(expected, actual))
