"""A framework with torch's names, of which it lacks some, is a candidate of those that it has."""

from __future__ import annotations

import types

import numpy as np
import pytest
import torch as real_torch

from autotest import random_tensor, torch
from autotest.frameworks import ABSENT, Namespace
from autotest.program import Array
from autotest.running.conformance.checking import conformance
from tests.support import running


class Small(Namespace):
    """torch without the names in `lacks`, with the adapter that `autotest adapter new` writes."""

    translates = True

    def __init__(self, *lacks: str) -> None:
        super().__init__("small", module="torch")
        self._lacks = lacks

    def import_root(self):
        whole = super().import_root()
        return types.SimpleNamespace(
            **{name: getattr(whole, name) for name in dir(whole) if not (name in self._lacks or name.startswith("__"))}
        )


@pytest.mark.parametrize("name", ["bfloat16", "cuda", "nn", "no_grad", "manual_seed", "dtype", "device", "Size"])
def test_a_name_that_it_lacks_takes_nothing_else_away(name):
    candidate, data = Small(name, "relu"), Array(np.ones(2, "float32"), "float32")
    outcome = running.trial(lambda: torch.exp(random_tensor(ndim=2)).sum(dim=1), candidate)
    assert running.agrees(outcome)
    outcome = running.trial(lambda: torch.relu(random_tensor(ndim=2)), candidate)
    assert (outcome.mismatches, outcome.rejection.text) == ([], "small has no relu")
    candidate.seed(1)
    candidate.overwrite(candidate.tensor(data), data)
    assert candidate.devices()[0] == "cpu"
    assert candidate.literal(object()) is ABSENT
    assert not isinstance(candidate.tensor(data), candidate.module_types)


def test_an_adapter_is_right_although_its_framework_lacks_names():
    lacking = Small("bfloat16", "cuda", "device", "memory_format", "nn")
    assert [checked for checked in conformance(lacking) if checked.outcome == "WRONG"] == []


class Plain:
    """A tensor with torch's methods, and of the operators only ``x / y``, ``x[...]`` and ``x + y``."""

    def __init__(self, held: real_torch.Tensor) -> None:
        self._held = held

    def __getattr__(self, name: str):
        found = getattr(self._held, name)
        return (lambda *args: _plain(found(*map(_held, args)))) if callable(found) else _plain(found)

    def __truediv__(self, other):
        return _plain(self._held / _held(other))

    def __getitem__(self, key):
        return _plain(self._held[key])

    def __add__(self, other):
        if other == 1.5:
            raise TypeError("1.5 is no number")
        return _plain(self._held + _held(other))


def _plain(value):
    return Plain(value) if isinstance(value, real_torch.Tensor) else value


def _held(value):
    return value._held if isinstance(value, Plain) else value


class Without(Namespace):
    """torch with tensors of the class `Plain`, and without the dtype complex64."""

    translates = True

    def __init__(self) -> None:
        super().__init__("without", module="torch")

    def import_root(self):
        names = "float32 float64 int64 bool device dtype Size no_grad manual_seed".split()
        held = {name: getattr(real_torch, name) for name in names}
        return types.SimpleNamespace(
            **held, Tensor=Plain, from_numpy=lambda data: Plain(real_torch.from_numpy(data)), exp=lambda x: x.exp()
        )

    def to_numpy(self, tensor):
        return tensor.detach()._held.numpy()


def _drawn(dtype="float32"):
    return random_tensor(shape=(2, 3), low=1, high=2, dtype=dtype, layout="contiguous", requires_grad=False)


def _assigned():
    x = _drawn()
    x[0] = 1.0
    return x


def _masked():
    return ~random_tensor(shape=(2, 3), dtype="bool", layout="contiguous")


@pytest.mark.parametrize(
    ("body", "lacks"),
    [
        (_assigned, "__setitem__"),
        (_masked, "__invert__"),
        (lambda: _drawn() // 2.0, "__floordiv__"),
        (lambda: 2.0 / _drawn(), "__rtruediv__"),
        (lambda: _drawn() > 1.5, "__gt__"),
        (lambda: _drawn() < 1.5, "__lt__"),
        (lambda: _drawn("complex64") / 2, "complex64"),
    ],
)
def test_an_operator_or_dtype_that_its_tensors_lack_is_absent_and_no_finding(body, lacks):
    outcome = running.trial(body, Without())
    assert (outcome.mismatches, outcome.rejection.text) == ([], f"without has no {lacks}")


def test_an_operator_that_its_tensors_have_and_that_refuses_is_a_finding():
    outcome = running.trial(lambda: _drawn() + 1.5, Without())
    assert [mismatch.what for mismatch in outcome.mismatches] == ["TypeError: 1.5 is no number"]


class IgnoresCreateGraph(Small):
    """A framework whose gradients belong to no graph, and which does not say so."""

    def gradients(self, outputs, inputs, cotangents, *, create_graph=False):
        if outputs[0].grad_fn is None:
            return [None for _ in inputs]
        return super().gradients(outputs, inputs, cotangents)


def test_conformance_says_that_create_graph_has_no_effect():
    (found,) = [one for one in conformance(IgnoresCreateGraph()) if one.name == "gradients of gradients"]
    assert found.why == "after create_graph=True: expected a gradient of the gradient, got None"


def test_conformance_calls_an_operator_a_method_and_a_dtype_absent_that_the_framework_lacks():
    absent = {checked.name: checked.why for checked in conformance(Without()) if checked.outcome == "absent"}
    assert absent["round trip of complex64"].startswith("without has no complex64")
    assert absent["operators treat bool tensors as booleans"] == "without has no __invert__"
    assert absent["a tensor can be written into another one"] == "without has no __setitem__"
    assert absent["each operator"].startswith("without has no __")


class WithDefault(Small):
    """Such a framework with a default dtype of its own."""

    default = real_torch.float32

    def import_root(self):
        def set_default_dtype(dtype):
            self.default = dtype

        root = super().import_root()
        root.get_default_dtype, root.set_default_dtype = lambda: self.default, set_default_dtype
        return root


def test_a_default_dtype_that_a_body_sets_ends_with_its_trial():
    candidate = WithDefault()

    def body():
        torch.set_default_dtype(torch.float64)

    running.trial(body, candidate)
    assert candidate.default_dtype() == "float32"
    assert running.agrees(running.trial(lambda: torch.exp(random_tensor(ndim=2)), candidate))
