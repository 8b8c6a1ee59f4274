"""Classes of the test derived from dual modules: a module on each side, and a forward that makes dual calls."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, ClassVar

from autotest.base.errors import TrialEnd, as_test_mistake, is_test_mistake
from autotest.program import refs
from autotest.recording.dual import DualObject, Method, Value
from autotest.recording.function import PATH as FUNCTION
from autotest.recording.function import Function
from autotest.recording.initial_state import random_state_before, synchronize_module
from autotest.recording.mistakes import calls_by_itself
from autotest.recording.module_table import ModuleTable
from autotest.recording.modules import Handle, Module
from autotest.recording.outside_trials import pair_outside_trials
from autotest.recording.recorder import Recorder, current, recording
from autotest.recording.tensor_hooks import hooks_on
from autotest.results.divergence import Divergence

__tracebackhide__ = is_test_mistake  # as in the recorder

_SLOTS = frozenset(("_actual", "_expected", "_recorder", "_slot"))
_PLAIN_MODULE = "nn.Module"
#: Classes that contain modules and do not call them, or that call them in a way that is implemented here.
_CONTAINERS = frozenset(("nn.ModuleList", "nn.ModuleDict", "nn.Sequential"))


class _Built(type):
    """Metaclass that, outside of any trial, records everything that one network makes in one record."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if current() is not None:
            return super().__call__(*args, **kwargs)
        recorder = Recorder(pair_outside_trials())
        recorder.recording_gradients = recorder.records_gradients()
        try:
            with recording(recorder):
                return super().__call__(*args, **kwargs)
        except TrialEnd as error:
            if recorder.mismatches:
                raise Divergence(recorder.mismatches[-1].message) from None
            raise error.__cause__ or error from None


class Network(Module, metaclass=_Built):
    """Base class of ``class Net(torch.nn.Module)``.

    Each side has a module that contains what is assigned to this object: parameters, buffers, modules. Operations on
    the whole (``parameters``, ``state_dict``, ``to``, ...) are done by the frameworks on these modules. ``forward`` is
    the test's own, and each dual call in it is recorded like any other.
    """

    #: Path of the framework's class that is used on each side.
    _dual_path: ClassVar[str] = _PLAIN_MODULE

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        recorder = self._recorder_now()
        random_state = random_state_before(recorder.pair, self._dual_path)
        slot = recorder.call("function", self._dual_path, args, kwargs)
        recorder.calls[slot] = recorder.calls[slot]._replace(note=f"class {type(self).__name__}")
        Value.__init__(self, recorder, slot)
        self._dual_register(recorder)
        if self._dual_path != _PLAIN_MODULE:
            synchronize_module(recorder, slot, random_state)

    def _dual_register(self, recorder: Recorder) -> None:
        recorder.modules.duals[id(self._expected)] = self
        recorder.modules.networks.add(id(self._expected))

    def _recorder_now(self) -> Recorder:
        found = current()
        return found if found is not None else self._recorder

    # -- attributes -------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        if name in _SLOTS:
            said = f"{type(self).__name__}: call super().__init__() first"
            raise as_test_mistake(AttributeError(said))
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
                raise as_test_mistake(AttributeError(said))
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
        """Note that `value` is the dual object for the reference's current member, which is the same on both sides."""
        recorder = self._recorder_now()
        recorder.modules.duals[id(value._expected)] = value
        recorder.synced.add(id(value._expected))

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            object.__delattr__(self, name)
        else:
            super().__delattr__(name)

    def _dual_belongs(self, name: str, value: Any, recorder: Recorder) -> bool:
        """Return whether the frameworks' modules get `value`. Values that they would only store are stored here."""
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
        """Return whether the reference's module has an attribute of its own called `name`."""
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
        """Compute the result of a call of this network: the framework's own forward, unless a class overrides it."""
        if self._dual_path == _PLAIN_MODULE:
            said = f"{type(self).__name__} has no forward; write `def forward(self, ...)` in it"
            raise as_test_mistake(NotImplementedError(said))
        return super()._dual_forward(*args, **kwargs)

    def train(self, mode: bool = True) -> Any:
        _set_mode(self, mode)
        return self

    def eval(self) -> Any:
        return self.train(False)

    @classmethod
    def holding(cls, recorder: Recorder, slot: int) -> Any:
        """Return the dual object of the module in `slot`: a known one, or for a copy, one of the original's class."""
        expected = recorder.expected[slot]
        table = recorder.modules
        known = table.duals.get(id(expected))
        actual = recorder.actual[slot]
        if known is not None and known._actual is actual:
            return known
        if isinstance(known, Network) and recorder.pair.candidate.same(actual, known._actual):
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
        """Call `hook` with the gradient of `tensor` in each backward."""
        return Handle(hooks_on(recorder, tensor).hooks, hook)

    @classmethod
    def as_base(cls, path: str) -> type:
        """Return the base class to use instead of the framework's class at `path`."""
        if path == FUNCTION:
            return Function
        if path == _PLAIN_MODULE:
            return Network
        return _Built(path.rpartition(".")[2], (Network,), {"_dual_path": path})

    # -- copies and text --------------------------------------------------------------------------------

    def _dual_twin(self, recorder: Recorder, slot: int) -> Network:
        """Return an object of the same class for the copy in `slot`."""
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
    """Return a method that calls the frameworks' own. An overriding class can reach it by ``super()``."""

    def method(self: Network, *args: Any, **kwargs: Any) -> Any:
        return Method(self, name)(*args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "add_module register_module parameters named_parameters buffers named_buffers state_dict load_state_dict "
    "to cpu cuda float double half zero_grad requires_grad_"
).split():
    setattr(Network, _name, _forwarded(_name))


def _set_mode(module: Module, mode: bool) -> None:
    """Do what torch's ``Module.train`` does: children are set by their own `train`, which a class may override."""
    recorder = module._dual_now()
    if not any(map(_sets_its_mode, [*module.modules()][1:])):
        recorder.method("train", module._lower(recorder), (mode,))
        return
    recorder.setattr(module, "training", mode)
    for child in module.children():
        if _sets_its_mode(child):
            child.train(mode)
        else:
            _set_mode(child, mode)


def _sets_its_mode(module: Any) -> bool:
    return isinstance(module, Network) and type(module).train is not Network.train


def _set(network: Network) -> set[str]:
    """Return the names of the network's slots that are set."""
    found = set()
    for name in _SLOTS:
        try:
            object.__getattribute__(network, name)
        except AttributeError:
            continue
        found.add(name)
    return found


# Set here because network.py imports the module that defines `Value`.
Value.of_modules = Network
