"""The plainest test of an operator finds within its twenty trials that the operator is wrong."""

from __future__ import annotations

import pytest

from autotest import Divergence, autotest, skip_grad_check
from tests.wrong_operators.alone import ALONE
from tests.wrong_operators.backwards import BACKWARDS
from tests.wrong_operators.beside import BESIDE
from tests.wrong_operators.between import BETWEEN
from tests.wrong_operators.broadcasts import BROADCASTS
from tests.wrong_operators.formulas import FORMULAS
from tests.wrong_operators.inference import INFERENCE
from tests.wrong_operators.layers import LAYERS
from tests.wrong_operators.left_out import LEFT_OUT
from tests.wrong_operators.long_together import LONG_TOGETHER
from tests.wrong_operators.meeting import MEETING
from tests.wrong_operators.memory import MEMORY
from tests.wrong_operators.numbers import NUMBERS
from tests.wrong_operators.rare_pairs import RARE_PAIRS
from tests.wrong_operators.reported import REPORTED
from tests.wrong_operators.seldom import SELDOM
from tests.wrong_operators.single_precision import SINGLE_PRECISION
from tests.wrong_operators.wrong import Wrong

#: torch's warnings about broadcasting in a loss, and about a division by zero degrees of freedom.
pytestmark = pytest.mark.filterwarnings("ignore")

WRONG = [
    *NUMBERS,
    *MEMORY,
    *FORMULAS,
    *LAYERS,
    *RARE_PAIRS,
    *REPORTED,
    *SELDOM,
    *BACKWARDS,
    *INFERENCE,
    *MEETING,
    *LONG_TOGETHER,
    *SINGLE_PRECISION,
    *BROADCASTS,
    *BETWEEN,
    *BESIDE,
    *ALONE,
    *LEFT_OUT,
]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: wrong.name)
def test_a_wrong_operator_is_found(against, wrong: Wrong) -> None:
    test = skip_grad_check(reason="planted faults")(autotest()(wrong.body))
    against()
    test()
    against(wrong.candidate())
    with pytest.raises(Divergence):
        test()


def test_there_are_a_hundred_of_them_with_names_of_their_own() -> None:
    assert len({wrong.name for wrong in WRONG}) == len(WRONG) >= 100
