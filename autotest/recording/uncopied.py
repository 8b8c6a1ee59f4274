"""Base class of dual objects that forbids copying, pickling and subclassing."""

from __future__ import annotations

from typing import Any, NoReturn

from autotest.base.errors import UsageError, made_by_the_test, of_the_test

__tracebackhide__ = of_the_test  # as in recorder.py


class Uncopied:
    """Raises an error that says what to write instead if the object is copied, pickled or used as a base class."""

    __slots__ = ()

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        raise UsageError(
            f"{self!r} cannot be a base class: only modules can, such as torch.nn.Module. Store the object in an "
            "attribute of your own class, and call its methods there"
        )

    def __copy__(self) -> NoReturn:
        raise made_by_the_test(TypeError("a dual object cannot be copied; use .clone() on a tensor, or build it twice"))

    def __deepcopy__(self, memo: Any) -> Any:
        self.__copy__()

    def __reduce__(self) -> NoReturn:
        why = "it holds live objects of two frameworks; write torch.save(x, path), copy.deepcopy(x) or .reference"
        raise made_by_the_test(TypeError(f"a dual object cannot be pickled: {why}"))


__all__ = ["Uncopied"]
