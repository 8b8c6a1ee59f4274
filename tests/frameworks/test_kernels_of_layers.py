"""A library's layers, optimizers and functions of parameters stand in for torch's where a test names them."""

from __future__ import annotations

import subprocess
import sys

import pytest

from autotest import Divergence, autotest, random, random_tensor, torch
from autotest.frameworks import framework
from autotest.frameworks.kernels import Kernels
from tests.support.running import agrees, trial

LIBRARY = "tests.support.layer_library"


def library() -> Kernels:
    table = {
        "nn.Linear": f"{LIBRARY}:RightLinear",
        "nn.LayerNorm": f"{LIBRARY}:LayerNorm",
        "nn.functional.silu": "tests.support.kernel_library:silu",
        "optim.SGD": f"{LIBRARY}:SGD",
        "optim.lr_scheduler.StepLR": f"{LIBRARY}:StepLR",
        "nn.utils.clip_grad_norm_": f"{LIBRARY}:clip_grad_norm_",
    }
    return Kernels("layers", table)


def drawn(**open_arguments):
    return random_tensor(ndim=2, low=-1, high=1, dtype="float32", **open_arguments)


def normalized():
    return torch.nn.LayerNorm(3, eps=0.5)(drawn(dim1=3))


def trained():
    net = torch.nn.Tanh(), torch.nn.Conv1d(2, 2, 1)
    optimizer = torch.optim.SGD(net[1].parameters(), lr=0.5, momentum=0.5, dampening=0.5)
    net[0](net[1](random_tensor(shape=(2, 2, 3), low=1, high=2, dtype="float32"))).sum().backward()
    optimizer.step()
    return net[1].weight


def clipped():
    net = torch.nn.Conv1d(2, 2, 1)
    net(random_tensor(shape=(2, 2, 3), low=1, high=2, dtype="float32")).sum().backward()
    return torch.nn.utils.clip_grad_norm_(net.parameters(), 0.5, norm_type=float("inf"))


def scheduled():
    net = torch.nn.Conv1d(2, 2, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1)
    net(random_tensor(shape=(2, 2, 3), low=1, high=2, dtype="float32")).sum().backward()
    optimizer.step()
    scheduler.step()
    return scheduler.get_last_lr()


WRONG = {"a layer": normalized, "an optimizer": trained, "a function of parameters": clipped, "a scheduler": scheduled}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_one_stands_in_for_torchs(what):
    assert trial(WRONG[what], library()).mismatches


def test_a_right_layer_agrees_and_counts_as_a_call_of_the_library():
    assert agrees(trial(lambda: torch.nn.Linear(3, 2)(drawn(dim1=3)), library()))
    assert trial(lambda: torch.nn.Bilinear(3, 3, 2)(drawn(dim1=3), drawn(dim1=3)), library()).rejection.type == "Absent"


def test_a_class_over_torchs_modules_contains_the_librarys():
    def body():
        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.inner = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.LayerNorm(3, eps=0.5))

            def forward(self, x):
                return self.inner(x)

        return Net()(drawn(dim1=3))

    assert trial(body, library()).mismatches


def test_what_is_made_is_an_instance_of_the_name_that_made_it():
    def body():
        layer = torch.nn.Linear(3, 2)
        assert isinstance(layer, torch.nn.Linear)
        return layer(drawn(dim1=3))

    assert agrees(trial(body, library()))


def test_in_another_interpreter_too_its_layers_stand_in():
    candidate = framework(f"python:{sys.executable}:{__name__}:library")
    assert agrees(trial(lambda: torch.nn.Linear(3, 2)(drawn(dim1=3)), candidate))
    assert trial(normalized, candidate).mismatches


def activated_and_normalized():
    return torch.nn.LayerNorm(3, eps=0.5)(torch.nn.functional.silu(drawn(dim0=random(1, 3), dim1=3)))


@pytest.mark.parametrize("body", [normalized, activated_and_normalized, trained, clipped, scheduled])
def test_scripts_name_the_librarys_classes_and_need_torch_and_the_library_alone(body, tmp_path, monkeypatch, warm):
    monkeypatch.setenv("AUTOTEST_DIR", str(tmp_path))
    with pytest.raises(Divergence, match=r"\(verified in a fresh interpreter\)"):
        autotest(n=4, candidate=f"{__name__}:library", auto_backward=False)(body)()
    (script,) = tmp_path.glob("failures/*/repro.py")
    without = f"import sys, runpy; sys.modules['autotest'] = None; runpy.run_path({str(script)!r}, run_name='__main__')"
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stdout[:8]) == (1, "DIFFERS:"), (done.stdout, done.stderr)
