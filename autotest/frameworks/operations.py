"""How recorded calls are carried out, where a framework does not say otherwise: as Python does it with its objects."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from autotest.frameworks.requests import PublicCall
from autotest.program import CallKind


@dataclasses.dataclass(frozen=True, slots=True)
class StandIns:
    """What stands on the reference for that which only the candidate has."""

    #: name right below the root -> object
    names: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: name of a method of tensors and modules -> function whose first argument is the owner
    methods: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    #: name of an attribute of tensors -> what is read there
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: Source lines that bring the same about in a reproducer, once the reference is imported.
    lines: tuple[str, ...] = ()

    @property
    def all_names(self) -> frozenset[str]:
        return frozenset((*self.names, *self.methods, *self.attributes))


class Operations:
    """The part of a framework's protocol that recorded calls go through."""

    tensor_types: tuple[type[Any], ...]
    module_types: tuple[type[Any], ...]
    #: Given by the pair: what this framework, as the reference, shall do where only the candidate has a name.
    stand_ins: StandIns = StandIns()

    def resolve(self, path: str) -> Any:
        """The object at dotted `path` below the namespace's root; raises `AttributeError` when missing."""
        raise NotImplementedError

    def public_call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PublicCall | None:
        """How a program spells a call of `function`, one of this framework's own that was given a dual tensor.

        None for what is not public. Asked only of a framework whose functions hand over to objects that they do not
        know, as torch's do.
        """
        return None

    def is_parameter(self, value: Any) -> bool:
        """Whether `value` is a parameter of one of its modules."""
        return False

    def is_a(self, value: Any, path: str) -> bool:
        """Whether `value`, one of its objects, is of the class at `path`."""
        return isinstance(value, self.resolve(path))

    def can_be_a_base(self, path: str) -> bool:
        """Whether a class of a test may be built on what is at `path`: modules, functions with own backwards."""
        found = self.resolve(path)
        return isinstance(found, type) and issubclass(found, (*self.module_types, self.resolve("autograd.Function")))

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        """What carries out the recorded calls of this kind and target, live and in every replay.

        It is called with the call's own arguments (`CallKind` lists them), the owner of a method or attribute first,
        and raises what the framework raises. This one does what Python does with objects that behave as torch's do.
        Raises `AttributeError` where the framework has nothing for it; that only some owners lack a method may show
        when it is called.
        """
        if kind == "function":
            return self.resolve(target)  # type: ignore[no-any-return]
        if kind == "method":
            return self._method(target)
        if kind == "operator":
            return getattr(operator, target)  # type: ignore[no-any-return]
        if kind == "builtin":
            return copy.deepcopy if target == "deepcopy" else getattr(builtins, target)
        if kind == "getattr":
            return lambda owner: self.member(owner, target)
        if kind == "setattr":
            return lambda owner, value: setattr(owner, target, value)
        if kind == "enter":
            return lambda context: context.__enter__()
        if kind == "exit":
            return lambda context, *details: context.__exit__(*(details or (None, None, None)))
        raise ValueError(
            f"calls of kind {kind!r} are carried out by methods of their own: tensor, overwrite, load_state"
        )

    def _method(self, name: str) -> Callable[..., Any]:
        if name == "__call__":
            return lambda owner, *args, **kwargs: owner(*args, **kwargs)
        if name in self.stand_ins.methods:
            return lambda owner, *args, **kwargs: self.member(owner, name)(*args, **kwargs)
        return lambda owner, *args, **kwargs: getattr(owner, name)(*args, **kwargs)

    def invoke(self, kind: CallKind, target: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Carry out one call; see `operation`."""
        return self.operation(kind, target)(*args, **kwargs)

    def provides(self, kind: CallKind, target: str, owner: Any) -> bool:
        """Whether it has a name for calls of this kind and target; for a method, whether `owner` has it."""
        try:
            if kind in ("method", "getattr") and target != "__call__":
                self.member(owner, target)
            else:
                self.operation(kind, target)
        except AttributeError:
            return False
        return True

    def declares(self, name: str, *, modules: bool = False) -> bool:
        """Whether its tensors have an attribute called `name`, as their class tells; with `modules`, or its modules."""
        kinds = (*self.tensor_types, *self.module_types) if modules else self.tensor_types
        return any(hasattr(kind, name) for kind in kinds)

    def first_failure(self, values: Sequence[Any]) -> tuple[int, Exception] | None:
        """Which of `values` is first to stand for a call that failed, where a framework tells of that only later."""
        return None

    def known(self, value: Any) -> Any:
        """What one of its objects stands for, where it keeps such elsewhere: a plain value, or a tuple of its objects.

        Any other is returned as it is.
        """
        return value

    def is_tensor(self, value: Any) -> bool:
        """Whether `value` is one of its tensors."""
        return isinstance(value, self.tensor_types)

    def same(self, one: Any, other: Any) -> bool:
        """Whether two of its values are one object."""
        return one is other

    def is_method(self, owner: Any, name: str) -> bool:
        """Whether `name` is a method of `owner`, one of its objects, to be called and not a value to be read."""
        return callable(getattr(type(owner), name, None)) or (
            name in self.stand_ins.methods and isinstance(owner, (*self.tensor_types, *self.module_types))
        )

    def member(self, value: Any, name: str) -> Any:
        """The attribute or bound method `name` of one of its values; raises `AttributeError` when there is none."""
        try:
            return getattr(value, name)
        except AttributeError:
            if name in self.stand_ins.methods and isinstance(value, (*self.tensor_types, *self.module_types)):
                return functools.partial(self.stand_ins.methods[name], value)
            if name in self.stand_ins.attributes and isinstance(value, self.tensor_types):
                return self.stand_ins.attributes[name]
            raise
