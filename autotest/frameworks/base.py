"""The protocol between this library and a framework.

All other rooms handle tensors, modules and dtypes through a `Framework` only. To add one, subclass it (or
`autotest.frameworks.namespace.Namespace` when it speaks torch's names) and register an instance under the entry-point
group ``autotest.frameworks``.
"""

from __future__ import annotations

import abc
import contextlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from autotest.base.errors import FrameworkMissing
from autotest.comparison import TensorValue
from autotest.emission import Script
from autotest.frameworks.operations import Operations, StandIns
from autotest.frameworks.requests import Build, FunctionCalled, Given, Graphed, Implementation
from autotest.frameworks.samples import SampleDatabase
from autotest.frameworks.states import Shapes
from autotest.frameworks.traced import Transcript
from autotest.program import Array, Operand


class _Absent:
    """The type of `ABSENT`, which no framework's object can be equal to."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = _Absent()


class CandidateDied(RuntimeError):
    """The process that a framework lives in is gone, and with it every value that it held."""


class CandidateHung(CandidateDied):
    """It gave no answer in time, and its process was ended for that."""


class Absent(AttributeError):
    """A framework has nothing for what a call asks of it: no finding, but a reason for which a trial cannot be made."""

    def __init__(self, framework: str, what: str) -> None:
        super().__init__(f"{framework} has no {what}")


def missing(name: str, error: BaseException) -> FrameworkMissing:
    """What to raise where the framework called `name` cannot be imported."""
    return FrameworkMissing(
        f"the framework {name!r} cannot be imported ({error}); install it, or choose another candidate "
        f"with AUTOTEST_CANDIDATE=NAME"
    )


class Made(NamedTuple):
    """A small object that a program makes anew by calling the namespace's `path` with plain `args`."""

    path: str
    args: tuple[Operand, ...]


class Framework(Operations, abc.ABC):
    """One side of a pair. Instances hold no state of a trial and may be shared by all of them.

    Attributes:
        name: how reports call it, such as ``"torch"``.
        alias: the attribute of a dual object that reaches this side, such as ``"pytorch"``.
        tensor_types: its tensor classes.
        module_types: its neural-network module classes.
        fragile: whether ordinary edge inputs may kill the process, so that they are tried elsewhere first.
        translates: whether it spells things otherwise than torch: what it has no name for is absent, and no finding.
        asynchronous: whether a call returns before it is carried out, so that it pays to run the next trial meanwhile.
        imported: whether this process has imported it, through this adapter.
        forkable: whether a process that has used it can be forked, for eager calls inside of `around_trials`.
        shares_driver: whether the reference may start a driver that it needs, too, and that does not survive a fork.
        origin: what another process asks the registry for to have it, too; empty for one that was made by hand.
    """

    name: str
    alias: str
    fragile: bool = False
    translates: bool = False
    asynchronous: bool = False
    imported: bool = False
    forkable: bool = False
    shares_driver: bool = False
    origin: str = ""

    def own_names(self) -> StandIns:
        """What a reference that knows nothing of it shall do for names that only this framework has."""
        return StandIns()

    #: Seconds within which a process of its own has to answer, where somebody asked for that; and how many have died.
    patience: float | None = None
    deaths: int = 0
    #: Whether its tensors hold numbers at all; else everything is compared by all but value.
    holds_values: bool = True
    #: Whether its users see where in memory the elements of a tensor lie.
    has_strides: bool = True
    #: Whether each trial is checked in graph mode, whatever the test says.
    always_in_graph: bool = False
    #: What its graph mode is called, such as ``"nn.Graph"``; empty where it has none.
    graph_mode: str = ""

    def run_in_graph(self, build: Build, calls: Sequence[Given]) -> list[Graphed]:
        """Call `build` inside of one graph, on what stands there for `calls[0]`, and run that graph once a call.

        The later calls are like the first in all but the numbers: in tensors, and in what the modules hold. The
        gradients are those that pushing back what `build` says leaves. Raises what the framework raises.
        """
        raise NotImplementedError(f"{self.name} has no graph mode")

    def records_gradients(self) -> bool:
        """Whether calls belong to the graph of gradients; False inside of ``no_grad`` and the like."""
        return True

    def modes(self) -> Any:
        """Settings of the process that a body may change for all that follows, such as whether gradients are on."""
        return None

    def told(self) -> Mapping[str, Any]:
        """What calls depend on besides what they are given, by the name of the function that a body tells it with."""
        return {}

    def default_dtype(self) -> str:
        """The dtype of floating tensors that are made without one; "" where nobody can ask or change it."""
        return ""

    def restore(self, modes: Any) -> None:
        """Set again what `modes` returned: a body may be left by a refused call before it does so itself."""

    def around_trials(self) -> contextlib.AbstractContextManager[None]:
        """What has to hold in this process while trials run, and is as it was before when they are over."""
        return contextlib.nullcontext()

    def sample_databases(self) -> Sequence[SampleDatabase]:
        """The databases of inputs that come with this framework, for its own operators."""
        return ()

    def public_names(self) -> Sequence[str]:
        """The dotted paths of all functions and tensor methods that its users may call, as far as it can tell."""
        return ()

    def random_state(self) -> bytes:
        """The state of the generator that random numbers are drawn from; always the same where it cannot be told."""
        return b""

    def strides(self, tensor: Any) -> tuple[int, ...]:
        """How many elements apart the neighbours along each dimension of `tensor` lie in memory."""
        return tuple(int(step) for step in tensor.stride())

    def function_called(self, call: Callable[[], Any]) -> FunctionCalled | None:
        """The public function that `call`, which is carried out, comes down to: for a module's, that of its forward."""
        return None

    def reference_implementations(self, path: str) -> Sequence[Implementation]:
        """Other implementations of the public function at `path`, which do not call it themselves."""
        return ()

    def placed_like(self, tensor: Any) -> tuple[str, dict[str, Any]] | None:
        """The method, and its keyword arguments, bringing a new CPU tensor to where `tensor` is, if it needs one."""
        return None

    def import_around(self, fork: Callable[[], None]) -> None:
        """Import it, and call `fork` once meanwhile: as late as a process can be forked and then do all that others do.

        `fork` comes back in the children, which go on importing. Without threads of its own that is when it has been
        imported; as long as nobody knows better, it is before.
        """
        if not self.forkable:
            fork()
        self.load()
        if self.forkable:
            fork()

    def load(self) -> None:
        """Import it now, which takes seconds; raises `FrameworkMissing`."""
        _ = self.version

    @property
    @abc.abstractmethod
    def version(self) -> str:
        """Its version, as it says it; imports it."""

    @abc.abstractmethod
    def resolve(self, path: str) -> Any:
        """The object at dotted `path` below the namespace's root; raises `AttributeError` when missing."""

    @abc.abstractmethod
    def tensor(self, array: Array, *, device: str = "cpu", requires_grad: bool = False) -> Any:
        """A new leaf tensor with the contents of `array`, sharing no memory with it."""

    @abc.abstractmethod
    def values(self, tensors: Sequence[Any]) -> list[TensorValue]:
        """Contents and attributes of `tensors`, read with one synchronisation. Views are allowed: read at once."""

    def reading(self, tensors: Sequence[Any]) -> Callable[[], list[TensorValue]]:
        """Begin to read `tensors`. What is returned waits for them and gives what `values` would.

        For whoever has something else to do while an asynchronous framework still works.
        """
        return lambda: self.values(tensors)

    def device_type(self, tensor: Any) -> str:
        """The kind of device that `tensor` is on, such as ``"cpu"``."""
        return str(tensor.device.type)

    def shape(self, tensor: Any) -> tuple[int, ...]:
        """The shape of `tensor`."""
        return tuple(tensor.shape)

    def numel(self, tensors: Iterable[Any]) -> int:
        """How many numbers `tensors` hold together."""
        return sum([math.prod(self.shape(tensor)) for tensor in tensors])

    def is_dense(self, tensor: Any) -> bool:
        """Whether `tensor` holds all its numbers in an array."""
        return "strided" in str(getattr(tensor, "layout", "strided"))

    def dtype_of(self, tensor: Any) -> str:
        """The shared name of the dtype of `tensor`, such as ``"float32"``."""
        return self.dtype_name(tensor.dtype)

    def forget_gradient(self, tensor: Any) -> None:
        """Let a leaf have no gradient, as if nothing had been pushed back yet."""
        if tensor.is_leaf:
            tensor.grad = None

    @abc.abstractmethod
    def gradients(
        self, outputs: Sequence[Any], inputs: Sequence[Any], cotangents: Sequence[Any], *, create_graph: bool = False
    ) -> list[Any]:
        """The gradients of `inputs` as values, None for one that nothing depends on; leaves no gradient in a tensor.

        `create_graph` puts their own computation on the tape, for gradients of gradients.
        """

    @abc.abstractmethod
    def gradient(self, tensor: Any) -> Any:
        """What autograd left in a tensor that may hold a gradient, or None."""

    @abc.abstractmethod
    def holds_gradient(self, tensor: Any) -> bool:
        """Whether autograd accumulates into `tensor`: a leaf that requires grad, or one that retains it."""

    def retain_gradient(self, tensor: Any) -> None:
        """Have autograd leave a gradient in `tensor`, which can be backpropagated and is no leaf."""
        raise NotImplementedError(f"{self.name} keeps no gradient of what is no leaf")

    def keep_gradient(self, tensor: Any) -> None:
        """Have autograd leave a gradient in `tensor`, which can be backpropagated, if it does not do so by itself.

        Nothing is done where the framework cannot.
        """
        if not self.holds_gradient(tensor):
            with contextlib.suppress(NotImplementedError):
                self.retain_gradient(tensor)

    def node(self, tensor: Any) -> Any:
        """The node of autograd that computed `tensor`, another one once it is written into; None where unknown."""
        return None

    @abc.abstractmethod
    def can_backpropagate(self, tensor: Any) -> bool:
        """Whether `tensor` is floating or complex and belongs to an autograd graph."""

    @abc.abstractmethod
    def parameters(self, module: Any) -> dict[str, Any]:
        """The module's named parameters, nested ones by dotted name."""

    @abc.abstractmethod
    def buffers(self, module: Any) -> dict[str, Any]:
        """The module's named buffers, nested ones by dotted name."""

    def state(self, module: Any) -> dict[str, Any]:
        """All that a module holds by name: its parameters, then its buffers."""
        return {**self.parameters(module), **self.buffers(module)}

    def expect_state(self, module: Any, parameters: Shapes, buffers: Shapes) -> None:
        """The reference's new module holds these; one that is far away may take it that `module` does, too.

        It then raises `StateDiffers` when it is waited for, as what making `module` failed with.
        """

    def children(self, module: Any) -> Mapping[str, Any]:
        """The modules right inside of `module`, by name; None under a name that is taken and empty."""
        return module._modules  # type: ignore[no-any-return]

    def modules(self, model: Any) -> dict[str, Any]:
        """`model` and all modules inside of it, by their dotted paths; "" is its own."""
        found = {"": model}
        for name, child in self.children(model).items():
            inner = {} if child is None else self.modules(child)
            found |= {f"{name}.{path}".rstrip("."): module for path, module in inner.items()}
        return found

    def calls_of_modules(
        self, model: Any, seen: Callable[[str, Any, Any, Any], None]
    ) -> contextlib.AbstractContextManager[None]:
        """Inside the block `seen` is told of each call of a module in `model`: its path, itself, arguments, result."""
        raise NotImplementedError(f"{self.name} does not tell of the calls of modules")

    def is_training(self, module: Any) -> bool:
        """Whether `module` is in training mode."""
        return bool(module.training)

    def works_in_place(self, value: Any) -> bool:
        """Whether `value` is a module that writes into what it is called with."""
        return bool(getattr(value, "inplace", False))

    def draws(self, module: Any) -> bool:
        """Whether calling `module`, as it is set now, draws random numbers."""
        return False

    def optimized(self, optimizer: Any) -> list[Any]:
        """The tensors that a step of `optimizer` writes into; none for what is no optimizer."""
        return [tensor for group in getattr(optimizer, "param_groups", ()) for tensor in group["params"]]

    @abc.abstractmethod
    def load_state(self, module: Any, state: Mapping[str, Array]) -> None:
        """Put `state` into the parameters and buffers of these names, in place and outside of autograd."""

    @abc.abstractmethod
    def overwrite(self, tensor: Any, array: Array) -> None:
        """Put the contents of `array` into `tensor`, in place and outside of autograd."""

    @abc.abstractmethod
    def literal(self, value: Any) -> Operand:
        """The framework-neutral operand for one of its own small objects (dtype, device, size), or `ABSENT`.

        A `Made` stands for one that has no name and is the result of a call.
        """

    def dtype_name(self, dtype: Any) -> str:
        """The shared name of one of its dtypes, such as ``"float32"``."""
        return str(self.literal(dtype).path)

    @abc.abstractmethod
    def devices(self) -> tuple[str, ...]:
        """The device types it can use now, ``"cpu"`` first."""

    @abc.abstractmethod
    def seed(self, seed: int) -> None:
        """Seed the random numbers that it draws by itself."""

    @abc.abstractmethod
    def synchronize(self) -> None:
        """Wait for everything that was asked of it; raises what an asynchronous call failed with."""

    @abc.abstractmethod
    def annotations(
        self, path: str, function: Any, positional: int, keywords: Iterable[str]
    ) -> Mapping[int | str, Any]:
        """Annotations of the parameters of `function`, by position and by name, as far as they are known.

        `path` is the dotted path or the method's name; `positional` and `keywords` say which overload
        is meant. Used on the reference alone, to give untyped generators a type.
        """

    def argument_names(
        self, path: str, function: Any, positional: int, keywords: Iterable[str], *, method: bool
    ) -> tuple[str, ...]:
        """What `function`, asked for as in `annotations`, calls its positional arguments; empty where that is unknown.

        Used on the reference alone, to tell which arguments a test always gives alike.
        """
        return ()

    def transcribing(self) -> tuple[Framework, Transcript] | None:
        """This adapter over what writes down its calls, for reproducers in its own terms; None where torch's do.

        Values are `Traced`, or hold one: see `text_of`.
        """
        return None

    def text_of(self, value: Any) -> Any:
        """What of a value of `transcribing` has a source text."""
        return value

    @abc.abstractmethod
    def script(self) -> Script:
        """How a reproducer, which has neither this library nor this adapter, gets at the framework."""
