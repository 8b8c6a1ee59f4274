"""Findings of ONNX Runtime have scripts. These tests are skipped if it is not installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from autotest import Divergence, random_tensor, torch
from autotest.base.settings import Settings
from autotest.frameworks import framework
from autotest.replaying import graph_check
from tests.support import running

pytestmark = [
    pytest.mark.filterwarnings("ignore"),
    pytest.mark.skipif(importlib.util.find_spec("onnxruntime") is None, reason="onnxruntime is not installed here"),
]


def without_the_divisor():
    """Return what is differently exported: the exporter drops ``divisor_override``."""
    pool = torch.nn.AvgPool2d(2, divisor_override=1)
    return pool(random_tensor(shape=(1, 1, 2, 2), low=1, high=9, requires_grad=False))


def to_nothing():
    """Return what ONNX Runtime refuses to run: a transposed convolution whose result has no elements."""
    layer = torch.nn.ConvTranspose1d(1, 1, 1, padding=2, dilation=2, bias=False).requires_grad_(False)
    return layer(random_tensor(shape=(2, 1, 4), requires_grad=False))


@pytest.mark.parametrize(
    ("body", "says"),
    [
        (without_the_divisor, "DIFFERS: v2: eager"),
        (to_nothing, "DIFFERS: eager mode accepts it, ONNX Runtime raises"),
    ],
)
def test_a_finding_has_a_script_of_torch_and_onnx_runtime_alone(tmp_path, body, says):
    with pytest.raises(Divergence) as raised:
        running.trials(body, tmp_path, framework("onnxruntime"), n=1)
    script = tmp_path / "repro.py"
    script.write_text(raised.value.finding.script)
    assert "import autotest" not in script.read_text()
    assert "from autotest" not in script.read_text()
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines()[-1].startswith(says), ran.stdout + ran.stderr
    assert ran.returncode == 1


def test_a_script_cannot_tell_where_torch_exports_the_program_no_more(tmp_path):
    with pytest.raises(Divergence) as raised:
        running.trials(without_the_divisor, tmp_path, framework("onnxruntime"), n=1)
    text = raised.value.finding.script
    script = tmp_path / "repro.py"
    script.write_text(text.replace("torch.onnx.export(Exported()", "torch.onnx.export(torch.nn.Module()"))
    ran = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stdout.splitlines()[-1].startswith("cannot tell:"), ran.stdout + ran.stderr
    assert ran.returncode == 2


def test_results_that_numpy_has_no_dtype_for_are_left_out():
    def body():
        return random_tensor(shape=(3,), requires_grad=False).bfloat16()

    report = graph_check.check([running.trial(body, framework("onnxruntime")).recorder], Settings())
    assert (report.mismatches, report.left_out) == ([[]], {"bfloat16, which its arrays of NumPy lack": 1})
