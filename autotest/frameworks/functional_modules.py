"""torch's modules for frameworks that have none: their parameters, and forwards made of torch's functions."""

from __future__ import annotations

import functools
import inspect
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import Any, Final, TypeAlias

import numpy as np

from autotest.frameworks.failures import Absent
from autotest.frameworks.tape import TapeTensor

#: `autotest.frameworks.functional.Functional`, which imports this module.
_Functional: TypeAlias = Any
#: (function that calls a torch function by path, the module, the module's arguments) -> result
Forward: TypeAlias = Callable[..., Any]
#: Shapes of the parameters by name, None for a missing one such as a disabled bias, and the forward.
ModulePlan: TypeAlias = tuple[dict[str, tuple[int, ...] | None], Forward]


class FunctionalModule:
    """A torch module: its parameters, and a forward, which is a function of the module and its arguments."""

    def __init__(
        self, framework: _Functional, plan: ModulePlan, children: Mapping[str, FunctionalModule] | None = None
    ) -> None:
        shapes, self._forward = plan
        self._framework = framework
        self.training = True
        self.children_by_name = dict(children or {})
        self.trained: dict[str, TapeTensor] = {
            name: TapeTensor(framework.array(np.zeros(shape), "float32"), requires_grad=True)
            for name, shape in shapes.items()
            if shape is not None
        }
        for prefix, child in self.children_by_name.items():
            self.trained |= {f"{prefix}.{name}": tensor for name, tensor in child.trained.items()}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        def call(path: str, *operands: Any, **named: Any) -> Any:
            return self._framework.operation("function", path)(*operands, **named)

        return self._forward(call, self, *args, **kwargs)

    def parameters(self) -> list[TapeTensor]:
        return [tensor for _, tensor in self.named_parameters()]

    def named_parameters(self) -> list[tuple[str, TapeTensor]]:
        """Return the parameters with their names; as in torch, one that has several names has the first of them."""
        first = {tensor: name for name, tensor in reversed(self.trained.items())}
        return [(name, tensor) for name, tensor in self.trained.items() if first[tensor] == name]

    def zero_grad(self, set_to_none: bool = True) -> None:
        for tensor in self.trained.values():
            if set_to_none or tensor.grad is None:
                tensor.grad = None
            else:  # in place, as in torch: another reference to the gradient also gets the zeros
                self._framework.write(tensor.grad, 0)

    def train(self, mode: bool = True) -> FunctionalModule:
        self.training = mode
        for child in self.children_by_name.values():
            child.train(mode)
        return self

    def eval(self) -> FunctionalModule:
        return self.train(False)

    def to(self, *args: Any, **kwargs: Any) -> FunctionalModule:
        return self

    def cast(self, dtype: str) -> FunctionalModule:
        """Convert the parameters to `dtype` and return the module."""
        for tensor in self.parameters():
            tensor.array = self._framework.cast(tensor.array, dtype)
        return self

    def __getitem__(self, index: int | slice) -> FunctionalModule:
        if isinstance(index, slice):
            return _sequential(self._framework, OrderedDict(list(self.children_by_name.items())[index]))
        return list(self.children_by_name.values())[index]


def module_class(framework: _Functional, path: str) -> Callable[..., FunctionalModule] | None:
    """Return the factory of torch's module at `path`, or None if the path is not known here.

    Raises `Absent` if the framework lacks the function that the module calls.
    """
    if not path.startswith("nn."):
        return None
    name = path.removeprefix("nn.")
    if name == "Sequential":
        return functools.partial(_sequential, framework)
    plan = _PLANS.get(name)
    if plan is not None:
        return functools.partial(_planned, framework, path, plan)
    function = _OF_FUNCTIONS.get(name)
    if function is None:
        return None
    framework.translated(function[0])  # raises `Absent` now if the function could not be called later
    return functools.partial(_of_function, framework, *function)


def _planned(
    framework: _Functional, path: str, plan: Callable[..., ModulePlan], *args: Any, **kwargs: Any
) -> FunctionalModule:
    """Make a module from its plan; raise `Absent` for an argument that the plan lacks, unless it has no effect."""
    given = {name: value for name, value in kwargs.items() if name not in _IDLE or value != _IDLE[name]}
    given.pop("device", None)
    try:
        inspect.signature(plan).bind(*args, **given)
    except TypeError as error:
        raise Absent(framework.name, f"{path} of such arguments ({error})") from error
    return FunctionalModule(framework, plan(*args, **given))


def _of_function(
    framework: _Functional, path: str, names: tuple[str, ...], *args: Any, **kwargs: Any
) -> FunctionalModule:
    """Make a module that calls the function at `path` with the arguments of its constructor.

    Raises `Absent` for a positional argument that `names` lacks.
    """
    if len(args) > len(names):
        raise Absent(framework.name, f"{path} of such arguments ({len(args)} by position)")
    given = {**_OTHER_DEFAULTS.get(path, {}), **dict(zip(names, args, strict=False)), **kwargs}
    return FunctionalModule(
        framework, ({}, lambda call, module, *operands, **named: call(path, *operands, **named, **given))
    )


def _sequential(framework: _Functional, *children: Any) -> FunctionalModule:
    named = children[0] if len(children) == 1 and isinstance(children[0], OrderedDict) else None
    held = dict(named) if named is not None else {str(at): child for at, child in enumerate(children)}

    def forward(call: Any, module: FunctionalModule, input: Any) -> Any:
        for child in module.children_by_name.values():
            input = child(input)
        return input

    return FunctionalModule(framework, ({}, forward), held)


def _linear(in_features: int, out_features: int, bias: bool = True) -> ModulePlan:
    shapes: dict[str, tuple[int, ...] | None] = {"weight": (out_features, in_features)}
    shapes["bias"] = (out_features,) if bias else None
    return shapes, lambda call, module, input: call("nn.functional.linear", input, *_weights(module))


def _layer_norm(normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True) -> ModulePlan:
    shape = tuple(normalized_shape) if isinstance(normalized_shape, (tuple, list)) else (normalized_shape,)
    own = shape if elementwise_affine else None
    return (
        {"weight": own, "bias": own},
        lambda call, module, input: call("nn.functional.layer_norm", input, shape, *_weights(module), eps),
    )


def _embedding(num_embeddings: int, embedding_dim: int) -> ModulePlan:
    return (
        {"weight": (num_embeddings, embedding_dim)},
        lambda call, module, input: call("nn.functional.embedding", input, module.trained["weight"]),
    )


def _convolution(
    rank: int,
    in_channels: int,
    out_channels: int,
    kernel_size: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    bias: bool = True,
) -> ModulePlan:
    for name, channels in (("in_channels", in_channels), ("out_channels", out_channels)):
        if groups <= 0 or channels % groups:
            raise ValueError(f"expected a positive number of groups that divides {name}, {channels}, got {groups}")
    kernel = tuple(kernel_size) if isinstance(kernel_size, (tuple, list)) else (kernel_size,) * rank
    shapes = {"weight": (out_channels, in_channels // groups, *kernel), "bias": (out_channels,) if bias else None}
    path = f"nn.functional.conv{rank}d"
    settings = stride, padding, dilation, groups
    return shapes, lambda call, module, input: call(path, input, *_weights(module), *settings)


def _weights(module: FunctionalModule) -> tuple[TapeTensor | None, TapeTensor | None]:
    return module.trained.get("weight"), module.trained.get("bias")


#: Argument values that have no effect: the module behaves as it does without the argument.
_IDLE: Final[Mapping[str, Any]] = {
    "dtype": None,
    "padding_idx": None,
    "max_norm": None,
    "scale_grad_by_freq": False,
    "sparse": False,
    "padding_mode": "zeros",
}
#: Function -> default arguments of its module that differ from the function's own defaults.
_OTHER_DEFAULTS: Final[Mapping[str, Mapping[str, Any]]] = {"flatten": {"start_dim": 1}}
_PLANS: Final[Mapping[str, Callable[..., ModulePlan]]] = {
    "Linear": _linear,
    "LayerNorm": _layer_norm,
    "Embedding": _embedding,
    "Conv1d": functools.partial(_convolution, 1),
    "Conv2d": functools.partial(_convolution, 2),
    "Identity": lambda *args, **kwargs: ({}, lambda call, module, input: input),
}
#: Module -> the function that it calls, and the names of its constructor's positional arguments.
_OF_FUNCTIONS: Final[Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "ReLU": ("relu", ("inplace",)),
    "ReLU6": ("relu6", ("inplace",)),
    "Sigmoid": ("sigmoid", ()),
    "Tanh": ("tanh", ()),
    "SiLU": ("silu", ("inplace",)),
    "GELU": ("gelu", ("approximate",)),
    "ELU": ("elu", ("alpha", "inplace")),
    "CELU": ("celu", ("alpha", "inplace")),
    "SELU": ("selu", ("inplace",)),
    "LeakyReLU": ("leaky_relu", ("negative_slope", "inplace")),
    "Softplus": ("softplus", ("beta", "threshold")),
    "Softsign": ("softsign", ()),
    "LogSigmoid": ("logsigmoid", ()),
    "Hardtanh": ("hardtanh", ("min_val", "max_val", "inplace")),
    "Hardsigmoid": ("hardsigmoid", ("inplace",)),
    "Hardswish": ("hardswish", ("inplace",)),
    "Mish": ("mish", ("inplace",)),
    "Softmax": ("softmax", ("dim",)),
    "LogSoftmax": ("log_softmax", ("dim",)),
    "Flatten": ("flatten", ("start_dim", "end_dim")),
    "MSELoss": ("mse_loss", ("size_average", "reduce", "reduction")),
    "L1Loss": ("l1_loss", ("size_average", "reduce", "reduction")),
    "SmoothL1Loss": ("smooth_l1_loss", ("size_average", "reduce", "reduction", "beta")),
}
