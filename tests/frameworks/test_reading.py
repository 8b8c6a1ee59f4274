"""If an adapter reads a value wrongly, the error names the adapter, and does not blame the framework."""

from __future__ import annotations

import numpy as np
import pytest

from autotest import random_tensor, torch
from autotest.base.errors import AdapterWrong
from autotest.frameworks import Namespace
from tests.support import running
from tests.support.block_framework import BlockFramework


class ReadsNothing(BlockFramework):
    def numpy(self, array):
        super().numpy(array)


class ReadsDtypes(BlockFramework):
    def dtype_of_array(self, array):
        return np.dtype(super().dtype_of_array(array))


class ReadsItself(Namespace):
    def to_numpy(self, tensor):
        return tensor.detach()


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (ReadsNothing, r"the adapter of otherwise: the contents of a tensor are None \(NoneType\); expected a numpy"),
        (ReadsDtypes, r"the dtype of a tensor is dtype\('float32'\) \(.*\); expected torch's name of it, a str"),
        (
            lambda: ReadsItself("mine", "torch"),
            r"the adapter of mine: the contents of a tensor are tensor\(.*\(Tensor\)",
        ),
    ],
    ids=["nothing", "a dtype of NumPy", "its own tensor"],
)
def test_an_adapter_that_reads_no_value_is_named(made, told):
    with pytest.raises(AdapterWrong, match=told):
        running.trial(lambda: torch.exp(random_tensor(shape=(2,))), made())


def test_a_right_one_agrees():
    assert running.agrees(running.trial(lambda: torch.exp(random_tensor(shape=(2,))), BlockFramework()))


class CallsItsDevices(Namespace):
    def device_type(self, tensor):
        return super().device_type(tensor.device)


class HasNoLeaves(Namespace):
    def holds_gradient(self, tensor):
        return tensor.is_a_leaf


@pytest.mark.parametrize(
    ("kind", "told"),
    [
        (CallsItsDevices, r"'torch.device' object has no attribute 'device' \(in `device_type`, .*base.py, line \d+\)"),
        (HasNoLeaves, r"has no attribute 'is_a_leaf' \(in `holds_gradient`, .*test_reading.py, line \d+\); override"),
    ],
)
def test_an_adapter_that_can_read_no_tensor_is_named_instead_of_the_calls(kind, told):
    said = r"the adapter of mine: a tensor that no call has made cannot be read: AttributeError: .*"
    with pytest.raises(AdapterWrong, match=said + told):
        running.trial(lambda: torch.exp(random_tensor(shape=(2,))), kind("mine", "torch"))
