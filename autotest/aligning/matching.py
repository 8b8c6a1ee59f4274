"""Matches the parameters of a model with those of its port: by the caller's mapping, by name, by shape and order."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from autotest.base.errors import UsageError
from autotest.program import Array
from autotest.program.values import TensorValue
from generators.shapes import Shape

#: The reference's name of a parameter, buffer or module -> the candidate's, with the order of axes if it differs.
NameMapping: TypeAlias = Mapping[str, str | tuple[str, str | Sequence[int]]]


@dataclasses.dataclass(frozen=True, slots=True)
class Match:
    """A parameter or buffer of the reference, and its counterpart in the candidate."""

    reference: str
    candidate: str
    #: The reference's axes in the candidate's order; None if the order is the same.
    axes: tuple[int, ...] | None = None

    def to_candidate(self, value: TensorValue) -> Array:
        """Return a copy of the reference's `value` with the candidate's order of axes."""
        data = value.data if self.axes is None else value.data.transpose(self.axes)
        return Array(np.array(data, order="C"), value.dtype)

    def to_reference(self, value: TensorValue | None) -> TensorValue | None:
        """Return the candidate's `value` with the reference's order of axes."""
        if value is None or self.axes is None or value.data.ndim != len(self.axes):
            return value
        return dataclasses.replace(value, data=np.ascontiguousarray(value.data.transpose(np.argsort(self.axes))))


@dataclasses.dataclass(frozen=True, slots=True)
class Matches:
    """The matched names, and the unmatched names of both sides."""

    pairs: tuple[Match, ...]
    unmatched: tuple[tuple[str, ...], tuple[str, ...]]


def match(reference: Mapping[str, Shape], candidate: Mapping[str, Shape], mapping: NameMapping) -> Matches:
    """Match names by the mapping, by equal names, and then by shapes.

    Args:
        reference: the reference's names of parameters and buffers -> their shapes.
        candidate: the same of the candidate.
        mapping: the names that the caller has matched.

    Raises:
        UsageError: The mapping is invalid, or contains an unknown name.
    """
    if not isinstance(mapping, Mapping):
        raise UsageError(
            "align(mapping=...): expected a dictionary of the reference's names and the candidate's, got "
            f"{mapping!r:.80}"
        )
    for key, value in mapping.items():
        _check(key, value)
    pairs, left = _by_name(reference, candidate, mapping)
    taken = {pair.candidate for pair in pairs}
    rest = [name for name in candidate if name not in taken]
    pairs += _by_shape(reference, candidate, left, rest)
    order_of = {name: number for number, name in enumerate(reference)}
    return Matches(tuple(sorted(pairs, key=lambda pair: order_of[pair.reference])), (tuple(left), tuple(rest)))


def _by_name(
    reference: Mapping[str, Shape], candidate: Mapping[str, Shape], mapping: NameMapping
) -> tuple[list[Match], list[str]]:
    """Return the matches by the mapping and by equal names, and the reference's other names."""
    renamed, axes = _renamed(reference, candidate, mapping)
    mapped_names = _mapped_names(renamed, candidate, mapping)
    pairs: list[Match] = []
    left: list[str] = []
    for name, shape in reference.items():
        other, order = renamed.get(name, name), axes.get(name)
        # The caller's mapping may give `other` to another name.
        if other not in candidate or mapped_names.get(other, name) != name:
            left.append(name)
            continue
        wanted = shape if order is None else tuple(shape[axis] for axis in order)
        if candidate[other] == wanted:
            pairs.append(Match(name, other, order))
        elif other == name and name not in mapping:
            left.append(name)
        else:
            said = f"mapping[{name!r}] is {other!r} of shape {candidate[other]}, where the reference has {shape}"
            if order is not None:
                raise UsageError(
                    f"{said}, which is {wanted} with its axes in the order {order}: correct the order, or leave it "
                    "out if the axes are not permuted"
                )
            raise UsageError(f'{said}: write (name, "transpose") or (name, axes) if the axes are permuted')
    return pairs, left


def _by_shape(
    reference: Mapping[str, Shape], candidate: Mapping[str, Shape], left: list[str], rest: list[str]
) -> list[Match]:
    """Match the names that are left by shape and in order, and remove them from `left` and `rest`.

    The first of a shape on one side is the first of it on the other.
    """
    pairs: list[Match] = []
    for name in [*left]:
        alike = [
            other for other in rest if candidate[other] == reference[name] and _may_correspond(name, other, reference)
        ]
        found = min(alike, key=lambda other: (_last(other) != _last(name), rest.index(other)), default=None)
        if found is not None:
            pairs.append(Match(name, found))
            rest.remove(found)
            left.remove(name)
    return pairs


def _check(key: object, value: object) -> None:
    """Raise `UsageError` if an item of a mapping is not a name with its counterpart."""
    how = value[1] if isinstance(value, tuple) and len(value) == 2 else ()
    moves = how == "transpose" or (isinstance(how, Sequence) and all(isinstance(one, (int, np.integer)) for one in how))
    named = value if isinstance(value, str) else value[0] if isinstance(value, tuple) and len(value) == 2 else None
    if not (isinstance(key, str) and isinstance(named, str) and moves):
        raise UsageError(
            f'mapping[{key!r}] is {value!r:.80}: expected the candidate\'s name, (name, "transpose") or (name, axes)'
        )


def _mapped_names(renamed: Mapping[str, str], candidate: Mapping[str, Shape], mapping: NameMapping) -> dict[str, str]:
    """Return the reference's name for each of the candidate's names that `mapping` determines."""
    found: dict[str, str] = {}
    for name, other in renamed.items():
        if not any(name == key or name.startswith(f"{key}.") for key in mapping):
            continue
        if name in mapping and other not in candidate:
            raise UsageError(
                f"mapping[{name!r}] is {other!r}, a module of the candidate: expected a parameter or buffer"
            )
        if other in found:
            raise UsageError(
                f"mapping: {found[other]!r} and {name!r} of the reference are both {other!r} of the candidate; "
                "expected another name for one of them"
            )
        found[other] = name
    return found


def _may_correspond(name: str, other: str, reference: Mapping[str, Shape]) -> bool:
    """Whether `other` may be the candidate's word for `name`: ``running_mean`` is not one for ``bias``."""
    return _last(other) == _last(name) or _last(other) not in set(map(_last, reference))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def module_names(
    matches: Matches, mapping: NameMapping, reference: Sequence[str], candidate: Sequence[str]
) -> dict[str, str]:
    """Return the reference's module names with the candidate's, as found by `mapping`, parameters or equal names."""
    found = {name: other for name in reference if (other := _rename(name, mapping)[0]) in candidate}
    for pair in matches.pairs:
        one, other = pair.reference.rpartition(".")[0], pair.candidate.rpartition(".")[0]
        if one in reference and other in candidate:
            found[one] = other
            # Parent modules are matched while the last parts of their names are equal.
            while one and other and one.rpartition(".")[2] == other.rpartition(".")[2]:
                one, other = one.rpartition(".")[0], other.rpartition(".")[0]
                found.setdefault(one, other)
    return found


def _renamed(
    reference: Mapping[str, Shape], candidate: Mapping[str, Shape], mapping: NameMapping
) -> tuple[dict[str, str], dict[str, tuple[int, ...]]]:
    for key, value in mapping.items():
        other = value if isinstance(value, str) else value[0]
        for given, names, side in ((key, reference, "reference"), (other, candidate, "candidate")):
            if not any(name == given or name.startswith(f"{given}.") for name in names):
                raise UsageError(
                    f"mapping[{key!r}]: the {side} has no parameter, buffer or module {given!r}; it has "
                    f"{', '.join([*names][:12])}"
                )
        if not isinstance(value, str) and key not in reference:
            inside = next(name for name in reference if name.startswith(f"{key}."))
            raise UsageError(
                f"mapping[{key!r}] is {value!r:.80}: {key!r} is a module of the reference, and only a parameter or "
                f"buffer has axes; name each of them, such as {inside!r}"
            )
    renamed: dict[str, str] = {}
    axes: dict[str, tuple[int, ...]] = {}
    for name, shape in reference.items():
        renamed[name], how = _rename(name, mapping)
        if how is not None:
            axes[name] = tuple(reversed(range(len(shape)))) if how == "transpose" else tuple(int(axis) for axis in how)
            if sorted(axes[name]) != list(range(len(shape))):
                raise UsageError(
                    f"mapping[{name!r}]: {how!r} is not a permutation of the {len(shape)} axes of shape {shape}"
                )
    return renamed, axes


def _rename(name: str, mapping: NameMapping) -> tuple[str, Any]:
    """Return the candidate's `name` by the longest prefix in `mapping`, and the order of its axes."""
    for key in sorted(mapping, key=len, reverse=True):
        if name == key or name.startswith(f"{key}."):
            value = mapping[key]
            other, how = (value, None) if isinstance(value, str) else value
            return other + name[len(key) :], how if name == key else None
    return name, None
