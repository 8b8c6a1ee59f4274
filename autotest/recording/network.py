"""Classes of the test's own over dual modules: a tree of the frameworks' modules, and forwards whose calls are dual."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from autotest.base.errors import TrialEnd, made_by_the_test, of_the_test
from autotest.program import refs
from autotest.recording.dual import DualObject, Method, Value
from autotest.recording.external_values import synchronize_module
from autotest.recording.function import PATH as FUNCTION
from autotest.recording.function import Function
from autotest.recording.gradient_hooks import hooks_on
from autotest.recording.mistakes import calls_by_itself
from autotest.recording.module_table import ModuleTable
from autotest.recording.modules import Handle, Module
from autotest.recording.outside_trials import pair_outside
from autotest.recording.recorder import Recorder, current, recording
from autotest.results.divergence import Divergence

__tracebackhide__ = of_the_test  # as in the recorder

_SLOTS = frozenset(("_actual", "_expected", "_recorder", "_slot"))
_PLAIN_MODULE = "nn.Module"
#: What holds modules and does not call them, or calls them in a way that is known here.
_CONTAINERS = frozenset(("nn.ModuleList", "nn.ModuleDict", "nn.Sequential"))


class _Built(type):
    """Outside of any trial, everything that one network makes belongs to one record."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return super().__call__(*args, **kwargs)
        recorder = Recorder(pair_outside())
        try:
            with recording(recorder):
                return super().__call__(*args, **kwargs)
        except TrialEnd as error:
            if recorder.mismatches:
                raise Divergence(recorder.mismatches[-1].message) from None
            raise error.__cause__ or error from None


class Network(Module, metaclass=_Built):
    """What ``class Net(torch.nn.Module)`` is built on.

    On either side there is a module that holds what is assigned to this object: parameters, buffers, modules. All that
    is done to them as a whole (``parameters``, ``state_dict``, ``to``, ...) is done to these modules by the frameworks
    themselves. ``forward`` is the test's own, and each dual call in it is recorded as any other.
    """

    #: Which class of the framework stands for it.
    _dual_path: ClassVar[str] = _PLAIN_MODULE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        recorder = self._recorder_now()
        slot = recorder.call("function", self._dual_path, args, kwargs)
        recorder.calls[slot] = recorder.calls[slot]._replace(note=f"class {type(self).__name__}")
        Value.__init__(self, recorder, slot)
        self._dual_register(recorder)
        if self._dual_path != _PLAIN_MODULE:
            synchronize_module(recorder, slot)

    def _dual_register(self, recorder: Recorder) -> None:
        recorder.modules.duals[id(self._expected)] = self
        recorder.modules.networks.add(id(self._expected))

    def _recorder_now(self) -> Recorder:
        found = current()
        return found if found is not None else self._recorder

    # -- attributes -------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            said = f"{type(self).__name__}: call super().__init__() before anything else is done to it"
            raise made_by_the_test(AttributeError(said))
        found = super().__getattr__(name)
        if isinstance(found, Value) and self._dual_registers(name):
            self._dual_knows(found)
        return found

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _SLOTS:
            object.__setattr__(self, name, value)
            return
        if "_expected" not in _set(self):
            if isinstance(value, DualObject):
                said = f"{type(self).__name__}: cannot assign {name} before super().__init__() has been called"
                raise made_by_the_test(AttributeError(said))
            object.__setattr__(self, name, value)
            return
        recorder = self._dual_now()
        if not self._dual_belongs(name, value, recorder):
            object.__setattr__(self, name, value)
            return
        self.__dict__.pop(name, None)
        recorder.setattr(self, name, value)
        if isinstance(value, Value):
            self._dual_knows(value)

    def _dual_knows(self, value: Value) -> None:
        """`value` is what one gets for the object that the reference holds now, and both sides hold it alike."""
        recorder = self._recorder_now()
        recorder.modules.duals[id(value._expected)] = value
        recorder.synced.add(id(value._expected))

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            super().__delattr__(name)

    def _dual_belongs(self, name: str, value: Any, recorder: Recorder) -> bool:
        """Whether the frameworks' modules are to hold `value`; what they would only keep is kept here alone."""
        pair = recorder.pair
        if isinstance(getattr(type(self), name, None), property):
            return False
        if isinstance(value, Value):
            if isinstance(value, Module) or pair.reference.is_a(value._expected, "nn.Parameter"):
                return True
        elif isinstance(value, DualObject):
            return False
        return name not in self.__dict__ and self._dual_registers(name)

    def _dual_registers(self, name: str) -> bool:
        """Whether the reference's module has something of its own under `name`."""
        pair = self._recorder_now().pair
        return not pair.is_method(self._expected, name) and pair.reference.provides("getattr", name, self._expected)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        recorder = self._dual_now()
        named = {} if persistent else {"persistent": False}
        recorder.method("register_buffer", self._lower(recorder), (name, tensor), named)
        if isinstance(tensor, Value):
            self._dual_knows(tensor)

    def register_parameter(self, name: str, param: Any) -> None:
        recorder = self._dual_now()
        recorder.method("register_parameter", self._lower(recorder), (name, param))
        if isinstance(param, Value):
            self._dual_knows(param)

    # -- calls ------------------------------------------------------------------------------------------

    def _dual_is_plain(self, table: ModuleTable) -> bool:
        return False

    def _dual_name(self) -> str:
        return type(self).__name__

    def _dual_forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.forward(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What a call of this network does: the framework's own, unless a class has another."""
        if self._dual_path == _PLAIN_MODULE:
            said = f"{type(self).__name__} has no forward; write `def forward(self, ...)` in it"
            raise made_by_the_test(NotImplementedError(said))
        return super()._dual_forward(*args, **kwargs)

    def train(self, mode: bool = True) -> Any:
        recorder = self._dual_now()
        recorder.method("train", self._lower(recorder), (mode,))
        for module in [*self.modules()][1:]:
            if isinstance(module, Network) and type(module).train is not Network.train:
                module.train(mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    @classmethod
    def holding(cls, recorder: Recorder, slot: int) -> Any:
        """The dual object of the module in `slot`: one that is there already, or of the class that was copied."""
        expected = recorder.expected[slot]
        table = recorder.modules
        known = table.duals.get(id(expected))
        if known is not None and known._actual is recorder.actual[slot]:
            return known
        original = table.copies.pop(id(expected), None)
        if original is not None:
            return original._dual_twin(recorder, slot)
        made = table.duals[id(expected)] = Module(recorder, slot)
        call = recorder.calls[slot]
        calls = table.networks and call.kind == "function" and call.target not in _CONTAINERS
        if calls and any(id(recorder.expected[ref.slot]) in table.networks for ref in refs(call)):
            raise calls_by_itself(call.target)
        return made

    @classmethod
    def on_gradient(cls, recorder: Recorder, tensor: Value, hook: Callable[..., Any]) -> Handle:
        """Let `hook` have the gradient of `tensor` in each backward."""
        return Handle(hooks_on(recorder, tensor).hooks, hook)

    @classmethod
    def as_base(cls, path: str) -> type:
        """What stands for the framework's class at `path` where a test writes it as a base class."""
        if path == FUNCTION:
            return Function
        if path == _PLAIN_MODULE:
            return Network
        return _Built(path.rpartition(".")[2], (Network,), {"_dual_path": path})

    # -- copies and text --------------------------------------------------------------------------------

    def _dual_twin(self, recorder: Recorder, slot: int) -> Network:
        """An object of the same class for the copy in `slot`."""
        twin: Network = type(self).__new__(type(self))
        Value.__init__(twin, recorder, slot)
        twin._dual_register(recorder)
        memo: dict[int, Any] = {id(self): twin}
        twin.__dict__.update({name: copy.deepcopy(value, memo) for name, value in self.__dict__.items()})
        return twin

    def extra_repr(self) -> str:
        return ""

    def __repr__(self) -> str:
        sides = self._recorder_now().pair.sides
        return "\n\n".join(f"{name}:\n{self._dual_text(side)}" for side, name in enumerate(sides))

    def _dual_text(self, side: int) -> str:
        return self._dual_tree(type(self).__name__, [line for line in self.extra_repr().split("\n") if line], side)


def _forwarded(name: str) -> Callable[..., Any]:
    """A method that is the frameworks' own, to be found by ``super()`` in a class that overrides it."""

    def method(self: Network, *args: Any, **kwargs: Any) -> Any:
        return Method(self, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "add_module register_module parameters named_parameters buffers named_buffers state_dict load_state_dict "
    "to cpu cuda float double half zero_grad requires_grad_"
).split():
    setattr(Network, _name, _forwarded(_name))


def _set(network: Network) -> set[str]:
    """Which of its slots are filled."""
    found = set()
    for name in _SLOTS:
        try:
            object.__getattribute__(network, name)
        except AttributeError:
            continue
        found.add(name)
    return found


# Values are wrapped in a file that this one is built on.
Value.of_modules = Network
