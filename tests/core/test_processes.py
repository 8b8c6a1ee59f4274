"""Trials are the same in all processes, and importing the library imports no framework."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from tests.conftest import ROOT

DRAWS = """
import json, sys
sys.path.insert(0, sys.argv[1])
from autotest import autotest, random, random_tensor, torch
drawn = []
@autotest(n=4)
def body():
    x = torch.relu(random_tensor(low=-1)) * random(1, 9) + torch.randn(1)
    drawn.append(x.reference.detach().double().sum().item())
    return x
body()
print(json.dumps(drawn))
"""


def run(code, *, hash_seed="0", **environment):
    done = subprocess.run(
        [sys.executable, "-c", code, str(ROOT)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={
            "PATH": "",
            "PYTHONHASHSEED": hash_seed,
            "AUTOTEST_CANDIDATE": "torch",
            "AUTOTEST_VERIFY": "0",
            **environment,
        },
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.slow
def test_trials_are_the_same_in_every_process(tmp_path):
    one = run(DRAWS, AUTOTEST_DIR=str(tmp_path), hash_seed="1")
    two = run(DRAWS, AUTOTEST_DIR=str(tmp_path), hash_seed="2")
    assert len(set(json.loads(one))) == 4
    assert one == two


def test_importing_the_library_imports_no_framework():
    code = (
        "import sys; sys.path.insert(0, sys.argv[1]); import autotest; print({'torch', 'oneflow'} & set(sys.modules))"
    )
    assert run(code).strip() == "set()"


README_TEST = """
import unittest

from autotest import autotest, torch, random, random_tensor, random_device, constant, nothing


class TestDeconv(unittest.TestCase):
    @autotest(n=20, rtol=1e-4, atol=1e-5)
    def test_deconv2d(test_case):
        channels = random(1, 6)
        m = torch.nn.ConvTranspose2d(
            in_channels=channels, out_channels=random(1, 20), kernel_size=random(1, 4),
            stride=random() | nothing(), padding=random(1, 3).to(int) | nothing(),
            dilation=random(1, 5) | nothing(), groups=random(1, 5) | nothing(),
            padding_mode=constant("zeros") | nothing())
        m.train(random())
        device = random_device()
        m.to(device)
        x = random_tensor(ndim=4, dim1=channels).to(device)
        return m(x)
"""


@pytest.mark.slow
@pytest.mark.parametrize("command", [["unittest"], ["pytest", "-q", "-p", "no:cacheprovider"]])
def test_the_test_of_the_readme_runs_under_every_runner(tmp_path, command, warm_process):
    (tmp_path / "test_deconv.py").write_text(README_TEST)
    around = {"PYTHONPATH": str(ROOT), "AUTOTEST_CANDIDATE": "torch"}
    done = warm_process.result([*command, "test_deconv.py"], tmp_path, around)
    assert done.ret == 0, done.stdout.str()
    assert "1 passed" in done.stdout.str() or done.stdout.lines[-1] == "OK"
    assert not list(tmp_path.rglob("repro.py"))
