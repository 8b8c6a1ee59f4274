"""OneFlow's graph mode: builds one ``oneflow.nn.Graph`` out of a function of tensors, and runs it once.

Enter OneFlow's module, a function, and what it is called with; leave its outputs and gradients. A graph has no
``.grad``: what it leaves is the parameters after one step of an optimizer. With plain gradient descent at rate 1 they
have moved by their gradients, exactly so where they started from zero, which is how leaves are brought in.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

from autotest.frameworks.base import Build, Graphed


def run(
    flow: Any,
    build: Build,
    inputs: Sequence[Any],
    leaves: Sequence[Any],
    modules: Sequence[Any],
    trained: Sequence[Any],
) -> Graphed:
    """Outputs of `build` and the gradients of its loss; see `Framework.run_in_graph`."""
    zeros = _holder(flow, leaves)
    weights = [*zeros.parameters(), *trained]
    before = [weight.detach().clone() for weight in trained]

    class Replay(flow.nn.Graph):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.zeros = zeros
            for index, module in enumerate(modules):
                setattr(self, f"module{index}", module)
            if weights:
                self.add_optimizer(flow.optim.SGD(weights, lr=1.0, momentum=0.0))

        def build(self, *given: Any) -> list[Any]:
            moved = [value + getattr(self.zeros, f"leaf{index}") for index, value in enumerate(given[: len(leaves)])]
            held = [getattr(self, f"module{index}") for index in range(len(modules))]
            rest = iter(given[len(leaves) :])
            outputs, loss = build([item if _empty(item) else next(rest) for item in inputs], moved, held)
            if weights and loss is not None:
                loss.backward()
            return outputs

    # As an argument of a graph, a tensor without elements makes the process abort; met inside of it, it does not.
    given = [*(leaf.detach() for leaf in leaves), *(item for item in inputs if not _empty(item))]
    with warnings.catch_warnings():
        # Modules that make zeros of their own are warned of ("not registered into a nn.Graph"); they are compared.
        warnings.simplefilter("ignore")
        outputs = Replay()(*given)
    if not isinstance(outputs, (list, tuple)):
        outputs = [outputs]
    return Graphed(
        [*outputs],
        [0 - zero.detach() for zero in zeros.parameters()],
        [old - new.detach() for old, new in zip(before, trained, strict=True)],
    )


def _empty(tensor: Any) -> bool:
    return 0 in tensor.shape


def _holder(flow: Any, leaves: Sequence[Any]) -> Any:
    """A module whose parameters are zeros of the shapes of `leaves`."""
    module = flow.nn.Module()
    for index, leaf in enumerate(leaves):
        setattr(module, f"leaf{index}", flow.nn.Parameter(flow.zeros_like(leaf.detach())))
    return module
