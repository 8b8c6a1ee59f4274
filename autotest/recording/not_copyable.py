"""Base class of dual objects that forbids copying, pickling and subclassing."""

from __future__ import annotations

from typing import Any, NoReturn

from autotest.base.errors import UsageError, as_test_mistake, is_test_mistake

__tracebackhide__ = is_test_mistake  # as in recorder.py


class NotCopyable:
    """Raises an error that says what to write instead if the object is copied, pickled or used as a base class."""

    __slots__ = ()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise UsageError(
            f"{self!r} cannot be a base class: only modules can, such as torch.nn.Module. Store the object in an "
            "attribute of your own class, and call its methods there"
        )

    def __copy__(self) -> NoReturn:
        raise as_test_mistake(TypeError("a dual object cannot be copied; use .clone() on a tensor, or build it twice"))

    def __deepcopy__(self, memo: Any) -> Any:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        why = "it holds live objects of two frameworks; write torch.save(x, path), copy.deepcopy(x) or .reference"
        raise as_test_mistake(TypeError(f"a dual object cannot be pickled: {why}"))
