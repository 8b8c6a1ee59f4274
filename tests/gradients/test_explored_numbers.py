"""``check_grad="numeric"`` on everything that an open test draws: NaN, ties, and extreme or many numbers.

None of them is a false alarm, and a gradient that is wrong for ordinary numbers is found.
"""

from __future__ import annotations

import pytest

from autotest import Divergence, autotest, random_tensor, torch
from tests.support.faulty import FaultyTorch, with_gradient

pytestmark = pytest.mark.usefixtures("quick")


def square():
    return random_tensor(ndim=2, dim0=3, dim1=3)


BODIES = {
    "exp": lambda: torch.exp(random_tensor(ndim=2)),
    "log": lambda: torch.log(random_tensor(ndim=1)),
    "sin": lambda: torch.sin(random_tensor(ndim=2)),
    "relu": lambda: torch.relu(random_tensor(ndim=2)),
    "clamp": lambda: torch.clamp(random_tensor(ndim=2), -1, 1),
    "acos": lambda: torch.acos(random_tensor(ndim=1)),
    "softmax": lambda: torch.softmax(random_tensor(ndim=2), 1),
    "norm": lambda: torch.norm(random_tensor(ndim=2)),
    "normalize": lambda: torch.nn.functional.normalize(random_tensor(ndim=2)),
    "max": lambda: torch.max(random_tensor(ndim=2)),
    "median": lambda: torch.median(random_tensor(ndim=1)),
    "prod": lambda: torch.prod(random_tensor(ndim=2), 1),
    "inverse": lambda: torch.inverse(square()),
    "maximum": lambda: torch.maximum(square(), square()),
    "atan2": lambda: torch.atan2(square(), square()),
    "quotient": lambda: square() / square(),
    "matmul": lambda: square() @ square(),
    "layer norm": lambda: torch.nn.LayerNorm(3)(square()),
}


@pytest.mark.parametrize("name", BODIES)
def test_what_is_drawn_accuses_no_right_gradient(name, against):
    against()
    autotest(n=20, check_grad="numeric")(BODIES[name])()


#: Changes of the gradient of exp: too large, zero where it is negative, that of another element.
WRONG = {
    "too much": lambda gradient: gradient * 1.01,
    "none below": lambda gradient: gradient.clamp(min=0),
    "rolled": lambda gradient: gradient.roll(1, -1),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_gradient_on_both_sides_is_found_among_it(wrong, against):
    fault = FaultyTorch({"exp": with_gradient(WRONG[wrong])})
    against(fault, fault)
    with pytest.raises(Divergence, match="its gradient is not the derivative of its own forward"):
        autotest(n=20, check_grad="numeric")(BODIES["exp"])()


def test_what_it_is_shrunk_to_still_has_the_call_that_is_wrong(against, monkeypatch):
    monkeypatch.setenv("AUTOTEST_SHRINK", "10")
    fault = FaultyTorch({"exp": with_gradient(lambda gradient: gradient * 1.01)})
    against(fault, fault)
    with pytest.raises(Divergence) as caught:
        # Strided memory is filled after it was created. The check must vary the values that fill it.
        autotest(n=20, check_grad="numeric")(lambda: torch.exp(random_tensor(ndim=2, layout="strided")))()
    assert [call.target for call in caught.value.finding.program.calls if call.target == "exp"] == ["exp"]
