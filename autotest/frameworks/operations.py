"""The default execution of recorded calls: as Python calls on the framework's objects. Adapters may override it."""

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
    """The reference's replacements for names that only the candidate has."""

    #: Name directly below the namespace's root -> object.
    names: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: Name of a method of tensors and modules -> function whose first argument is the owner.
    methods: Mapping[str, Callable[..., Any]] = dataclasses.field(default_factory=dict)
    #: Name of an attribute of tensors -> its value.
    attributes: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    #: Source lines that define the same replacements in a reproducer, after the import of the reference.
    lines: tuple[str, ...] = ()

    @property
    def all_names(self) -> frozenset[str]:
        return frozenset((*self.names, *self.methods, *self.attributes))


class Operations:
    """The part of a framework's protocol that runs recorded calls."""

    tensor_types: tuple[type[Any], ...]
    module_types: tuple[type[Any], ...]
    #: Set by the pair: the replacements that this framework, as the reference, has for names of the candidate only.
    stand_ins: StandIns = StandIns()

    def resolve(self, path: str) -> Any:
        """Return the object at dotted `path` below the namespace's root; raise `AttributeError` if it is missing."""
        raise NotImplementedError

    def public_call(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> PublicCall | None:
        """Return how a program spells a call of `function`, one of this framework's own that got a dual tensor.

        Returns None if the function is not public. Used only for a framework whose functions dispatch to unknown
        objects, as torch's do with ``__torch_function__``.
        """
        return None

    def is_parameter(self, value: Any) -> bool:
        """Return whether `value` is a module parameter of the framework."""
        return False

    def is_a(self, value: Any, path: str) -> bool:
        """Return whether `value`, an object of the framework, is an instance of the class at `path`."""
        return isinstance(value, self.resolve(path))

    def can_be_a_base(self, path: str) -> bool:
        """Return whether a test may subclass the object at `path`: a module class, or ``autograd.Function``."""
        found = self.resolve(path)
        return isinstance(found, type) and issubclass(found, (*self.module_types, self.resolve("autograd.Function")))

    def operation(self, kind: CallKind, target: str) -> Callable[..., Any]:
        """Return the function that runs the recorded calls of this kind and target, live and in every replay.

        The function takes the call's arguments (`CallKind` lists them), the owner of a method or attribute first, and
        raises whatever the framework raises. This default does what Python does with objects that behave like torch's.

        Raises:
            AttributeError: if the framework has no such operation. A method that only some owners lack may be detected
                later, when the returned function is called.
            ValueError: if other methods run calls of this kind: `tensor`, `overwrite` and `load_state`.
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
        """Run one call; see `operation`."""
        return self.operation(kind, target)(*args, **kwargs)

    def provides(self, kind: CallKind, target: str, owner: Any) -> bool:
        """Return whether the framework has calls of this kind and target; for a method, whether `owner` has it."""
        try:
            if kind in ("method", "getattr") and target != "__call__":
                self.member(owner, target)
            else:
                self.operation(kind, target)
        except AttributeError:
            return False
        return True

    def lacking_operator(self, target: str, operands: Sequence[Any]) -> str:
        """Return the special method that the framework's tensors lack for ``operator.target(*operands)``; "" if none.

        Asked after the operator raised `TypeError`, as Python does if neither operand has such a method.
        """
        return ""

    def declares(self, name: str, *, modules: bool = False) -> bool:
        """Return whether the framework's tensor classes, or with `modules` its module classes, have a member `name`."""
        kinds = (*self.tensor_types, *self.module_types) if modules else self.tensor_types
        return any(hasattr(kind, name) for kind in kinds)

    def first_failure(self, values: Sequence[Any]) -> tuple[int, Exception] | None:
        """Return the index and error of the first of `values` whose call failed, or None.

        Only a framework that reports the failure of a call later, as one in another process does, returns failures.
        """
        return None

    def known(self, value: Any) -> Any:
        """Return the plain value, or the tuple of objects, that `value` refers to in another process.

        Any other value is returned unchanged.
        """
        return value

    def shown(self, value: Any) -> str:
        """Return the text of `value` for the output of a test, which contains the numbers of a tensor."""
        return repr(value)

    def is_tensor(self, value: Any) -> bool:
        """Return whether `value` is a tensor of the framework."""
        return isinstance(value, self.tensor_types)

    def takes(self, value: Any) -> bool:
        """Return whether calls can get `value`, an object of the test that is neither plain data nor the framework's.

        Not every object can be sent to a framework in another process.
        """
        return True

    def same(self, one: Any, other: Any) -> bool:
        """Return whether two values of the framework are the same object."""
        return one is other

    def identity(self, value: Any) -> int | None:
        """Return a number that no other living value of the framework has; None if objects cannot be told apart."""
        return id(value)

    def is_method(self, owner: Any, name: str) -> bool:
        """Return whether `name` is a method of `owner`, an object of the framework, and not a plain attribute."""
        return callable(getattr(type(owner), name, None)) or (
            name in self.stand_ins.methods and isinstance(owner, (*self.tensor_types, *self.module_types))
        )

    def member(self, value: Any, name: str) -> Any:
        """Return the attribute or bound method `name` of `value`, replacements included.

        Raises `AttributeError` if there is none.
        """
        try:
            return getattr(value, name)
        except AttributeError:
            if name in self.stand_ins.methods and isinstance(value, (*self.tensor_types, *self.module_types)):
                return functools.partial(self.stand_ins.methods[name], value)
            if name in self.stand_ins.attributes and isinstance(value, self.tensor_types):
                return self.stand_ins.attributes[name]
            raise
