"""The meaning of annotations, given as objects or as the text of a stub file."""

# ruff: noqa: UP006, UP007, UP035, UP045 - old forms are tested

from __future__ import annotations

import subprocess
import sys
import typing
from collections.abc import Sequence
from numbers import Number
from typing import Annotated, Any, List, Literal, Optional, Tuple, TypeVar, Union

import pytest

from generators import describe
from generators.annotations import BOOL, COMPLEX, FLOAT, INT, Fixed, Items, Many, OneOf, element

PAIR = OneOf((INT, Items((INT, INT))))
NUMBER = OneOf((INT, FLOAT))
T = TypeVar("T", bound=int)
U = TypeVar("U", int, float)


@pytest.mark.parametrize(
    ("annotation", "expected"),
    [
        (int, INT),
        (float, FLOAT),
        (bool, BOOL),
        (complex, COMPLEX),
        (Optional[int], INT),
        (Union[int, None], INT),
        (int | None, INT),
        (int | float | bool, NUMBER),
        (Union[int, Tuple[int, int]], PAIR),
        (Union[Tuple[int, int], int], PAIR),
        (tuple[int, float], Items((INT, FLOAT))),
        (tuple[int, ...], Many(INT)),
        (Union[int, tuple[int, ...]], INT),
        (List[int], Many(INT)),
        (Sequence[float], Many(FLOAT)),
        (Literal["b", "a", None], Fixed(("a", "b"))),
        (Union[str, int], INT),
        (Annotated[int, "size"], INT),
        (typing.Final[int], INT),
        (T, INT),
        (U, NUMBER),
        (Number, NUMBER),
        (typing.ForwardRef("Optional[float]"), FLOAT),
        (tuple[int | None, int], Items((INT, INT))),
        (Optional["int"], INT),
    ],
)
def test_annotations_that_are_objects(annotation: Any, expected: Any) -> None:
    assert describe(annotation) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("_int", INT),
        ("_float", FLOAT),
        ("_bool", BOOL),
        ("builtins.int", INT),
        ("Number", NUMBER),
        ("Optional[_int]", INT),
        ("typing.Optional[builtins.float]", FLOAT),
        ("Optional[Number]", NUMBER),
        ("Union[_int, _size]", INT),
        ("_size", Many(INT)),
        ("Sequence[Union[_int, SymInt]]", Many(INT)),
        ("Tuple[_int, _int]", Items((INT, INT))),
        ("tuple[int, ...]", Many(INT)),
        ("_size_2_t", PAIR),
        ("_size_3_opt_t", OneOf((INT, Items((INT, INT, INT))))),
        ("_ratio_2_t", OneOf((FLOAT, Items((FLOAT, FLOAT))))),
        ("_size_any_t", Many(INT)),
        ("BroadcastingList2[int]", PAIR),
        ("Literal['zeros', 'reflect']", Fixed(("reflect", "zeros"))),
        ("int | None", INT),
        ("Union[Tensor, Number]", NUMBER),
        ("'Optional[int]'", INT),
        (" List[int] ", Many(INT)),
    ],
)
def test_annotations_as_stub_files_write_them(text: str, expected: Any) -> None:
    assert describe(text) == expected


@pytest.mark.parametrize(
    "annotation",
    [
        None,
        type(None),
        str,
        object,
        Any,
        list,
        dict[str, int],
        "Tensor",
        "Optional[Tensor]",
        "Tuple[Tensor, int]",
        "List",
        "Any",
        "",
        "not an annotation",
        "f(x)",
        "Tuple[()]",
        [],
        3,
        Literal[None],
    ],
)
def test_what_cannot_be_drawn_is_unknown(annotation: Any) -> None:
    assert describe(annotation) is None


def test_the_order_of_alternatives_does_not_depend_on_which_spelling_came_first() -> None:
    # Union[a, b] == Union[b, a], so the first one is cached for both.
    spellings = ["Union[int, Tuple[int, int], Tuple[float]]", "Union[Tuple[float], Tuple[int, int], int]"]
    program = (
        "from typing import *; from generators import describe; import sys\n"
        "for text in sys.argv[1:]: described = describe(eval(text))\n"
        "print(described)"
    )
    outputs = {
        subprocess.run([sys.executable, "-c", program, *order], capture_output=True, text=True, check=True).stdout
        for order in (spellings, spellings[::-1])
    }
    assert len(outputs) == 1


def test_a_tuples_elements_know_their_place() -> None:
    assert element(Items((INT, FLOAT)), 1, 2) == FLOAT
    assert element(Items((INT, FLOAT)), 1, 3) is None
    assert element(Many(FLOAT), 7, 9) == FLOAT
    assert element(PAIR, 0, 2) == INT
    assert element(PAIR, 0, 3) is None
    assert element(INT, 0, 1) is None
    assert element(None, 0, 1) is None


def test_kinds_with_the_same_parts_are_not_taken_for_each_other() -> None:
    assert Items((INT,)) != OneOf((INT,))
    assert Many(INT) != Items((INT,))
    assert describe(PAIR) is PAIR
