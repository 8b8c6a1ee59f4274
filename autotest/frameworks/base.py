"""The protocol between this library and a framework.

All other packages handle tensors, modules and dtypes through a `Framework` only. To add a framework, subclass it (or
`autotest.frameworks.namespace.Namespace` if the framework uses torch's names) and register a function that returns an
instance under the entry-point group ``autotest.frameworks``.
"""

from __future__ import annotations

import abc
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks.operations import Operations, StandIns
from autotest.frameworks.parameters import Parameters
from autotest.frameworks.requests import Build, FunctionCalled, Given, Graphed, Implementation
from autotest.frameworks.samples import SampleDatabase
from autotest.frameworks.states import Shapes
from autotest.frameworks.traced import Transcript
from autotest.program import Array, Operand


class Made(NamedTuple):
    """A small object that a program makes again by calling the namespace's `path` with plain `args`."""

    path: str
    args: tuple[Operand, ...]


class Framework(Operations, Parameters, abc.ABC):
    """One side of a pair. Instances contain no state of a trial, and all trials may share them.

    Attributes:
        name: the name in reports, such as ``"torch"``.
        alias: the attribute of a dual object that returns this side's object, such as ``"pytorch"``.
        tensor_types: the tensor classes.
        module_types: the neural-network module classes.
        fragile: whether ordinary edge cases may crash the process. They are then tried in another process first.
        translates: whether the adapter translates torch's names. A name without a translation is absent, not a finding.
        initialises_modules: whether a new module has initial values of the framework's own, and not only those that are
            loaded into it.
        asynchronous: whether a call returns before it has run. It then pays to start the next trial meanwhile.
        imported: whether this process has imported the framework through this adapter.
        forkable: whether a process that has used the framework can be forked, for eager calls inside `around_trials`.
        shares_driver: whether the reference may start a driver that this framework needs too and that does not survive
            a fork.
        origin: the registered name by which another process makes this adapter; empty if it was made by hand.
    """

    name: str
    alias: str
    fragile: bool = False
    translates: bool = False
    initialises_modules: bool = False
    asynchronous: bool = False
    imported: bool = False
    forkable: bool = False
    shares_driver: bool = False
    origin: str = ""

    def own_names(self) -> StandIns:
        """Return stand-ins for the names that only this framework has; the reference uses them in place of its own."""
        return StandIns()

    #: Whether it computes gradients. If not, a trial runs no backward of its own.
    has_gradients: bool = True
    #: Seconds that the framework's own process has to reply (None: no limit), and how many of its processes have died.
    patience: float | None = None
    deaths: int = 0
    #: For the reference with some functions of its own, their calls so far: a trial without one compares nothing.
    own_calls: int | None = None
    #: Whether tensors contain numbers. If not, results are compared by everything except their values.
    holds_values: bool = True
    #: Whether users of the framework can observe the strides of a tensor.
    has_strides: bool = True
    #: Whether each trial is checked in graph mode, even if the test does not request it.
    always_in_graph: bool = False
    #: The name of the graph mode, empty if there is none; and whether it works in a fork from the framework's import.
    graph_mode: str = ""
    graph_works_in_forks: bool = True

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        """Build one graph by calling `build` on the graph's own objects for `calls[0]`, and run it once for each call.

        Args:
            build: takes inputs, leaves and modules; returns the outputs, and the outputs to backpropagate from, each
                with its cotangent.
            calls: what each run of the graph is given. Later calls differ from the first only in the numbers in their
                tensors and in the states of their modules.

        Returns:
            The outputs of each run, and the gradients that backpropagation leaves.

        Raises:
            NotImplementedError: if the framework has no graph mode.
            Exception: whatever the framework raises.
        """
        raise NotImplementedError(f"{self.name} has no graph mode")

    def records_gradients(self) -> bool:
        """Return whether calls are recorded for gradients; False inside ``no_grad`` and similar contexts."""
        return True

    def modes(self) -> Any:
        """Return the process-wide settings that a test body may change and leave changed, such as the grad mode."""
        return None

    def told(self) -> Mapping[str, Any]:
        """Return the settings other than arguments that calls depend on, by the name of the function that sets each."""
        return {}

    def default_dtype(self) -> str:
        """Return the dtype of floating tensors made without a dtype; "" if it can neither be read nor changed."""
        return ""

    def restore(self, modes: Any) -> None:
        """Restore the settings that `modes` returned: a refused call may end a body before it restores them itself."""

    def around_trials(self) -> contextlib.AbstractContextManager[None]:
        """Return a context that sets what trials need in this process, and restores the previous state at its end."""
        return contextlib.nullcontext()

    def sample_databases(self) -> Sequence[SampleDatabase]:
        """Return the databases of inputs that come with this framework, for its own operators."""
        return ()

    def public_names(self) -> Sequence[str]:
        """Return the dotted paths of all public functions and tensor methods that the adapter knows of."""
        return ()

    def random_state(self) -> bytes:
        """Return the state of the default random generator; a constant if the state cannot be read."""
        return b""

    def strides(self, tensor: Any) -> tuple[int, ...]:
        """Return the strides of `tensor`, in elements."""
        return tuple(int(step) for step in tensor.stride())

    def function_called(self, call: Callable[[], Any]) -> FunctionCalled | None:
        """Run `call` and return the public function that makes its result (for a module, the one in its forward).

        Returns None if that is not known.
        """
        return None

    def reference_implementations(self, path: str) -> Sequence[Implementation]:
        """Return other implementations of the public function at `path`, which do not call that function."""
        return ()

    def placed_like(self, tensor: Any) -> tuple[str, dict[str, Any]] | None:
        """Return the method and keyword arguments that move a CPU tensor to where `tensor` is; None if not needed."""
        return None

    def import_around(self, fork: Callable[[], None]) -> None:
        """Import the framework, and call `fork` once, at the latest point at which a child still has all features.

        `fork` returns in the child processes, which continue the import. For a framework without threads of its own
        that point is after the import. If `forkable` is not set, it is before the import.
        """
        for step in (self.load, fork) if self.forkable else (fork, self.load):
            step()

    def load(self) -> None:
        """Import the framework now, which takes seconds; raise `FrameworkMissing` if that fails."""
        _ = self.version

    @property
    @abc.abstractmethod
    def version(self) -> str:
        """The version that the framework reports. Reading it imports the framework."""

    @abc.abstractmethod
    def resolve(self, path: str) -> Any:
        """Return the object at dotted `path` below the namespace's root; raise `AttributeError` if it is missing."""

    @abc.abstractmethod
    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        """Return a new leaf tensor with the contents of `array`, which shares no memory with it."""

    @abc.abstractmethod
    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        """Return the contents and attributes of `tensors`, read with one synchronisation.

        The values may be views of the tensors' memory: the caller reads them at once.
        """

    def reading(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        """Begin to read `tensors`; return a function that waits for them and returns what `values` would return.

        A caller can do other work while an asynchronous framework still computes.
        """
        return lambda: self.values(tensors)

    def device_type(self, tensor: Any) -> str:
        """Return the type of the device that `tensor` is on, such as ``"cpu"``."""
        return str(tensor.device.type)

    def shape(self, tensor: Any) -> tuple[int, ...]:
        """Return the shape of `tensor`."""
        return tuple(tensor.shape)

    def numel(self, tensors: Iterable[Any]) -> int:
        """Return the total number of elements in `tensors`."""
        return sum([math.prod(self.shape(tensor)) for tensor in tensors])

    def is_dense(self, tensor: Any) -> bool:
        """Return whether `tensor` is strided: it stores all its elements in an array, unlike a sparse tensor."""
        return "strided" in str(getattr(tensor, "layout", "strided"))

    def dtype_of(self, tensor: Any) -> str:
        """Return the framework-neutral name of the dtype of `tensor`, such as ``"float32"``."""
        return self.dtype_name(tensor.dtype)

    def forget_gradient(self, tensor: Any) -> None:
        """Clear the gradient of `tensor`, a leaf or one that retains it, as if nothing had been backpropagated."""
        if tensor.is_leaf or self.holds_gradient(tensor):
            tensor.grad = None

    @abc.abstractmethod
    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        """Return the gradients of `inputs` for `cotangents` of `outputs`, without accumulating into any tensor.

        The gradient of an input that no output depends on is None. `create_graph` is for gradients of gradients.
        """

    @abc.abstractmethod
    def gradient(self, tensor: Any) -> Any:
        """Return the gradient that autograd has accumulated in `tensor`, or None."""

    @abc.abstractmethod
    def holds_gradient(self, tensor: Any) -> bool:
        """Return whether autograd accumulates into `tensor`: a leaf that requires grad, or one that retains it."""

    def retain_gradient(self, tensor: Any) -> None:
        """Make autograd keep the gradient of `tensor`, which can be backpropagated and is not a leaf."""
        raise NotImplementedError(f"{self.name} cannot keep the gradient of a tensor that is not a leaf")

    def keep_gradient(self, tensor: Any) -> None:
        """Make autograd keep the gradient of `tensor`, which can be backpropagated, if it does not yet and can."""
        if not self.holds_gradient(tensor):
            with contextlib.suppress(NotImplementedError):
                self.retain_gradient(tensor)

    def node(self, tensor: Any) -> Any:
        """Return the autograd node that computed `tensor`, or None if unknown. An in-place write changes the node."""
        return None

    @abc.abstractmethod
    def can_backpropagate(self, tensor: Any) -> bool:
        """Return whether `tensor` is floating or complex and belongs to an autograd graph."""

    @abc.abstractmethod
    def parameters(self, module: Any) -> dict[str, Any]:
        """Return the module's parameters by name; those of submodules have dotted names."""

    def tensors_of(self, value: Any) -> Iterable[Any]:
        """Return `value` if it is a tensor, the parameters if it is a module, and else nothing."""
        if isinstance(value, self.module_types):
            return self.parameters(value).values()
        return (value,) if isinstance(value, self.tensor_types) else ()

    @abc.abstractmethod
    def buffers(self, module: Any) -> dict[str, Any]:
        """Return the module's buffers by name; those of submodules have dotted names."""

    def state(self, module: Any) -> dict[str, Any]:
        """Return the state of a module by name: its parameters, then its buffers."""
        return {**self.parameters(module), **self.buffers(module)}

    def expect_state(self, module: Any, parameters: Shapes, buffers: Shapes) -> None:
        """Take note of the state shapes of the reference's new module, which `module` corresponds to.

        A framework in another process may assume that `module` has the same state, instead of asking. If the assumption
        is false, making `module` counts as failed with `StateDiffers`, which is raised when the process is waited for.
        """

    def children(self, module: Any) -> Mapping[str, Any]:
        """Return the direct submodules of `module` by name; None for a name that is registered without a module."""
        return module._modules  # type: ignore[no-any-return]

    def modules(self, model: Any) -> dict[str, Any]:
        """Return `model` and all its submodules by dotted path; the path of `model` is ""."""
        found = {"": model}
        for name, child in self.children(model).items():
            inner = {} if child is None else self.modules(child)
            found |= {f"{name}.{path}".rstrip("."): module for path, module in inner.items()}
        return found

    def calls_of_modules(
        self, model: Any, seen: Callable[[str, Any, Any, Any], None]
    ) -> contextlib.AbstractContextManager[None]:
        """Return a context in which each call of a module in `model` is reported to `seen`.

        `seen` is called with the module's path, the module, its arguments and its result.
        """
        raise NotImplementedError(f"{self.name} does not report the calls of modules")

    def is_training(self, module: Any) -> bool:
        """Return whether `module` is in training mode."""
        return bool(module.training)

    def works_in_place(self, value: Any) -> bool:
        """Return whether `value` is a module that changes its argument in place."""
        return bool(getattr(value, "inplace", False))

    def draws(self, module: Any) -> bool:
        """Return whether a call of `module`, in its present mode, draws random numbers."""
        return False

    def optimized(self, optimizer: Any) -> list[Any]:
        """Return the tensors that a step of `optimizer` changes; an empty list if it is not an optimizer."""
        return [tensor for group in getattr(optimizer, "param_groups", ()) for tensor in group["params"]]

    def learning_rates(self, optimizer: Any) -> list[float]:
        """Return the learning rates of the groups of `optimizer`; an empty list if it is not an optimizer."""
        return [float(group["lr"]) for group in getattr(optimizer, "param_groups", ()) if "lr" in group]

    @abc.abstractmethod
    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        """Copy `state` into the parameters and buffers of the same names, in place and not recorded by autograd."""

    @abc.abstractmethod
    def overwrite(self, tensor: Any, array: Array) -> None:
        """Copy the contents of `array` into `tensor`, in place and not recorded by autograd."""

    @abc.abstractmethod
    def literal(self, value: Any) -> Operand:
        """Return the framework-neutral operand for a small object of the framework (dtype, device, size), or `ABSENT`.

        A `Made` stands for an object that has no name and is the result of a call.
        """

    def item_names(self, value: tuple[Any, ...]) -> tuple[str, ...] | None:
        """Return the names of the items of a result; empty if it has none, None if the adapter made the tuple."""
        return None

    def dtype_name(self, dtype: Any) -> str:
        """Return the framework-neutral name of `dtype`, one of the framework's own, such as ``"float32"``."""
        return str(self.literal(dtype).path)

    @abc.abstractmethod
    def devices(self) -> tuple[str, ...]:
        """Return the device types that the framework can use now, ``"cpu"`` first."""

    @abc.abstractmethod
    def seed(self, seed: int) -> None:
        """Seed the framework's own random numbers."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait for all pending calls; raise the error of an asynchronous call that failed."""

    @abc.abstractmethod
    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        """Return the known annotations of the parameters of `function`, by position and by name.

        Used only for the reference, to give untyped generators a type.

        Args:
            path: the dotted path of a function, or the name of a method.
            function: the function or bound method.
            positional: the number of positional arguments; selects the overload, together with `keywords`.
            keywords: the names of the keyword arguments.
        """

    def called_none_of_its_own(self, since: int | None) -> bool:
        """Whether none of its own functions was called since `own_calls` was `since`; False if it counts none."""
        return since is not None and self.own_calls == since

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        """Return a copy of this adapter that records its calls as source code, and the transcript that it fills.

        Used for reproducers in the framework's own API. None if the framework uses torch's names. The values of the
        copy are `Traced` objects, or contain one: see `text_of`.
        """
        return None

    def text_of(self, value: Any) -> Any:
        """Return the part of `value` that has a source text; `value` comes from an adapter made by `transcribing`."""
        return value

    @property
    def passive_imports(self) -> tuple[str, ...]:
        """The imports of its scripts that start no thread and no driver, so that they may run before a fork."""
        return ()

    @abc.abstractmethod
    def script(self) -> Script:
        """Return the source by which a reproducer imports the framework, and the name that it gets; see `Script`.

        A reproducer contains no adapter. If the framework needs one, the reproducer imports it from this library.
        """
