"""After the tests, the plugin reports what operators were never given, and is silent if there is nothing."""

from __future__ import annotations

import pytest

from autotest import constant, nothing, oneof, random, random_bool, random_tensor, skip_grad_check, torch
from autotest.campaigns import isolated_runner
from autotest.campaigns.in_process import InProcess
from autotest.report.coverage import closing, table
from autotest.results.coverage import gaps, merged
from autotest.results.ledger import Ledger, LedgerEntry
from tests.support.covered import covered
from tests.support.faulty import FaultyTorch
from tests.support.running import trials

pytestmark = pytest.mark.usefixtures("counting")


def test_a_plain_test_leaves_nothing_to_say():
    coverage = covered(lambda: torch.relu(random_tensor(ndim=2)))
    assert gaps(coverage) == {}
    assert closing(coverage) == []


def test_what_a_test_rules_out_is_named():
    coverage = covered(lambda: torch.relu(random_tensor(ndim=2, dim0=2, dim1=3, low=0.5, high=2, layout="contiguous")))
    assert gaps(coverage)["relu"] == [
        "never a negative value",
        "never a zero",
        "never NaN or an infinity",
        "never more than 8 elements",
        "never a few thousand elements",
        "never memory that is not contiguous",
    ]
    assert "relu: never a negative value" in closing(coverage)[1]


@pytest.mark.parametrize("dtype", ["float32", int, bool])
def test_tensors_that_all_have_no_elements_are_told(dtype):
    coverage = covered(lambda: torch.flatten(random_tensor(shape=(0, random(1, 4)), dtype=dtype)))
    assert gaps(coverage) == {"flatten": ["never a tensor with elements"]}
    assert "  flatten: never a tensor with elements" in closing(coverage)


def test_tensors_without_elements_beside_others_are_not_told():
    coverage = covered(lambda: torch.cat([random_tensor(shape=(0, 3)), random_tensor(ndim=2, dim1=3)]))
    assert "never a tensor with elements" not in gaps(coverage).get("cat", [])
    coverage = covered(lambda: torch.flatten(random_tensor(shape=(random(0, 2), 3))))
    assert "never a tensor with elements" not in gaps(coverage)["flatten"]


def test_special_values_that_a_run_leaves_out_are_no_gap_of_a_test(monkeypatch):
    def body():
        return torch.relu(random_tensor(ndim=2))

    assert gaps(covered(body, special_values=False)) == {"relu": ["never NaN or an infinity"]}
    monkeypatch.setenv("AUTOTEST_SPECIAL_VALUES", "0")
    assert gaps(covered(body)) == {}


def test_two_tests_cover_an_operator_together():
    low = covered(lambda: torch.relu(random_tensor(shape=(40,), low=-2, high=0)))
    high = covered(lambda: torch.relu(random_tensor(shape=(40,), low=1, high=2)))
    assert "never a negative value" not in gaps(merged([low, high]))["relu"]


@pytest.mark.parametrize(
    "layout", ["contiguous", "transposed", "channels_last", "strided", "offset", "expanded", "pitched", "sliced"]
)
def test_each_layout_is_counted_as_what_it_is(layout):
    coverage = covered(lambda: torch.relu(random_tensor(shape=(3, 4, 2, 3), layout=layout)))
    assert {feature for feature in coverage["relu"] if feature.startswith("layout")} == {f"layout {layout}"}


@pytest.mark.parametrize(
    ("shape", "layout", "seen"),
    [
        ((5, 1), "transposed", False),
        ((1, 1), "strided", False),
        ((1, 4), "pitched", False),
        ((4, 1), "strided", True),
        ((1, 2, 3), "channels_last", False),
        ((2, 2, 3), "channels_last", True),
    ],
)
def test_a_layout_that_sizes_of_one_hide_is_not_counted(shape, layout, seen):
    coverage = covered(lambda: torch.relu(random_tensor(shape=shape, layout=layout)))
    found = {feature for feature in coverage["relu"] if feature.startswith("layout")}
    assert found == ({f"layout {layout}"} if seen else set())
    assert seen != ("never memory that is not contiguous" in gaps(coverage)["relu"])


@pytest.mark.parametrize("layout", ["strided", "offset", "pitched", "transposed"])
def test_the_memory_below_a_layout_is_no_input(layout):
    coverage = covered(lambda: torch.sin(random_tensor(shape=(2, 3), contents="distinct", layout=layout)))
    assert not {"past a block", "ties"} & coverage["sin"].keys()
    assert "never more than 8 elements" in gaps(coverage)["sin"]


def test_all_elements_of_an_expanded_tensor_are_inputs():
    coverage = covered(lambda: torch.sin(random_tensor(shape=(6, 7), layout="expanded")))
    assert (coverage["sin"]["past a block"], coverage["sin"]["ties"]) == (20, 20)


def test_operands_of_one_shape_do_not_broadcast_whatever_their_layouts_are():
    coverage = covered(lambda: torch.add(random_tensor(shape=(3, 4)), random_tensor(shape=(3, 4))))
    assert len([feature for feature in coverage["add"] if feature.startswith("layout")]) > 2
    assert "broadcast" not in coverage["add"]


def _summed(**said):
    return torch.add(random_tensor(ndim=2, **said), random_tensor(ndim=2, **said))


def _of_one_open_shape():
    rows, columns = random(1, 6).value(), random(1, 6).value()
    return _summed(dim0=rows, dim1=columns)


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: torch.exp(random_tensor(dtype="float64")), ["always float64"]),
        (lambda: torch.exp(random_tensor(dtype=oneof("float32", "float64"))), []),
        (lambda: torch.exp(random_tensor(dtype="float32")), []),
        (lambda: torch.abs(random_tensor(dtype="int32")), []),
        (lambda: torch.exp(random_tensor(ndim=2, layout="strided")), ["always strided memory"]),
        (lambda: torch.exp(random_tensor(ndim=2, layout=oneof("strided", "transposed"))), []),
        (_of_one_open_shape, ["never a few thousand elements", "never tensors that broadcast"]),
        (lambda: _summed(dim0=2, dim1=3), ["never more than 8 elements", "never a few thousand elements"]),
        (_summed, []),
        (lambda: torch.dot(*[random_tensor(ndim=1)] * 2), []),
    ],
)
def test_one_dtype_one_layout_and_one_shape_in_all_trials_are_told_if_they_are_not_the_usual_ones(body, told):
    (said,) = (gaps(covered(body)) or {"": []}).values()
    assert said == told


def test_an_argument_that_is_always_the_same_is_named():
    coverage = covered(lambda: torch.sum(random_tensor(ndim=2), dim=random(0, 2), keepdim=True))
    assert gaps(coverage)["sum"] == ["never a negative dim", "keepdim always True"]
    assert gaps(covered(lambda: torch.sum(random_tensor(ndim=2), dim=random(-2, 2), keepdim=random().to(bool)))) == {}


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: torch.sum(random_tensor(ndim=2), 1, True), ["dim always 1", "keepdim always True"]),
        (lambda: random_tensor(ndim=2).sum(1), ["dim always 1"]),
        (lambda: random_tensor(ndim=2).sum(random(-2, 2)), []),
        (lambda: torch.nn.functional.softmax(random_tensor(ndim=2), 1), ["dim always 1"]),
        (lambda: torch.nn.ReLU(False)(random_tensor(ndim=2)), ["inplace always False"]),
        (lambda: torch.nn.LeakyReLU(random(0.0, 1.0))(random_tensor(ndim=2)), []),
    ],
)
def test_an_argument_that_is_given_by_position_is_named_as_the_reference_names_it(body, told):
    (said,) = (gaps(covered(body)) or {"": []}).values()
    assert said == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ({"dim": 1}, ["dim always 1"]),
        ({"dim": (0, 1)}, ["dim always (0, 1)"]),
        ({"dim": 1, "keepdim": False}, ["dim always 1", "keepdim always False"]),
        ({"dim": oneof(-1, 0)}, []),
        ({"dim": oneof(-1, 0), "keepdim": constant(True) | nothing()}, []),
    ],
)
def test_what_is_always_said_is_told_and_what_is_left_out_at_times_is_not(said, told):
    assert gaps(covered(lambda: torch.sum(random_tensor(ndim=2), **said))).get("sum", []) == told


def test_tensors_in_a_tuple_are_no_argument_that_is_always_the_same():
    def joined():
        return torch.cat(tensors=(random_tensor(ndim=1, layout="contiguous"), torch.ones(3)))

    def differentiated():
        x = random_tensor(ndim=2, layout="contiguous")
        return torch.autograd.grad(torch.sum(x), inputs=(x,))

    for body in (joined, differentiated):
        assert not [line for lines in gaps(covered(body)).values() for line in lines if "always" in line]


def test_a_number_that_is_the_only_one_that_was_accepted_is_told_also_if_it_is_left_out_at_times():
    def body():
        x, weight = random_tensor(shape=(2, 1, 6)), random_tensor(shape=(1, 1, 3))
        return torch.nn.functional.conv1d(x, weight, groups=random(1, 4) | nothing())

    coverage = covered(body)
    (said,) = [line for line in gaps(coverage)["nn.functional.conv1d"] if "groups" in line]
    assert said == "groups always 1 where it is given"


@pytest.mark.parametrize(
    "said", [{"low": -3, "high": 3}, {"low": 0, "high": 1, "dtype": "float32"}, {"contents": "uniform"}]
)
def test_numbers_of_a_test_that_are_all_finite_are_told_though_some_are_tiny(said):
    told = gaps(covered(lambda: torch.relu(random_tensor(ndim=2, **said))))["relu"]
    assert "never NaN or an infinity" in told
    assert gaps(covered(lambda: torch.relu(random_tensor(ndim=2, low=0)))) == {"relu": ["never a negative value"]}


def test_what_a_call_has_overwritten_is_no_input_of_later_calls_and_the_copy_that_is_kept_no_call_of_the_test():
    def body():
        x = random_tensor(ndim=2, requires_grad=False, layout="contiguous")
        positive = torch.abs(x)
        positive.zero_()  # this library keeps a copy of the result
        x.clamp_(1, 2)
        x.fill_(3)
        return torch.log(x) + positive

    coverage = covered(body, auto_backward=False)
    assert coverage["log"] == {"computed operands": 20, "called as function": 20}
    assert coverage.keys() == {"abs", "zero_", "clamp_", "fill_", "log", "add"}


_OF_DIAGONAL = ["dim1 always -1", "never a negative dim2", "offset always 0"]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: torch.permute(random_tensor(ndim=2), [1, 0]), ["dims always [1, 0]"]),
        (lambda: torch.flip(random_tensor(ndim=2), [random(0, 2).value()]), ["never a negative number in dims"]),
        (lambda: torch.flip(random_tensor(ndim=2), [random(-2, 2).value()]), []),
        (lambda: torch.sum(random_tensor(ndim=3), oneof((0,), (0, 1))), ["never a negative number in dim"]),
        (lambda: torch.sum(random_tensor(ndim=3), oneof((0,), (0, -1))), []),
        (lambda: torch.tile(random_tensor(ndim=3), oneof((1,), (2, 1))), []),
        (lambda: torch.diagonal(random_tensor(ndim=3), 0, -1, random(0, 2)), _OF_DIAGONAL),
        (lambda: torch.argmax(random_tensor(ndim=2), axis=random(0, 2)), ["never a negative axis"]),
        (lambda: random_tensor(ndim=3).flatten(start_dim=random(0, 2)), ["never a negative start_dim"]),
        (lambda: random_tensor(ndim=3).flatten(start_dim=random(-2, 2)), []),
    ],
)
def test_lists_count_as_arguments_and_each_name_of_a_dimension_as_one(body, told):
    (said,) = (gaps(covered(body)) or {"": []}).values()
    assert said == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: torch.max(random_tensor(ndim=3), 1), ["dim always 1"]),
        (lambda: random_tensor(ndim=3).max(1), ["dim always 1"]),
        (lambda: torch.pow(2.0, random_tensor(ndim=2)), ["input always 2.0"]),
        (lambda: random_tensor(ndim=3).permute(2, 0, 1), ["dims always (2, 0, 1)"]),
        (lambda: random_tensor(ndim=2).repeat(random(1, 3), 1), []),
        (lambda: random_tensor(ndim=2) - 3, ["other always 3"]),
        (lambda: random_tensor(ndim=2) > 0, []),
        (lambda: random_tensor(ndim=2) ** 2, ["exponent always 2"]),
        (lambda: 1 - random_tensor(ndim=2), ["input always 1"]),
        (lambda: random_tensor(ndim=2)[1:, 0], ["index always 1:, 0"]),
        (lambda: random_tensor(ndim=3)[..., -1], ["index always ..., -1"]),
        (lambda: random_tensor(ndim=2)[random(0, 1) | constant(-1)], []),
        (lambda: torch.sum(random_tensor(ndim=2), dtype=torch.float64), ["dtype always float64"]),
    ],
)
def test_an_argument_of_a_method_an_operator_or_an_overload_is_named_as_what_it_is(body, told):
    lines = [line for line in gaps(covered(body)).get(next(iter(covered(body))), []) if "few thousand" not in line]
    assert lines == told


@pytest.mark.parametrize(
    ("body", "told"),
    [
        (lambda: random_tensor(ndim=2, layout="contiguous").view(-1), "size always -1"),
        (lambda: random_tensor(ndim=2).to(torch.float64), "dtype always float64"),
        (lambda: random_tensor(ndim=2).to("cpu"), "device always 'cpu'"),
        (lambda: torch.linalg.norm(random_tensor(ndim=2), 1), "ord always 1"),
        (lambda: torch.nn.functional.adaptive_max_pool1d(random_tensor(ndim=3), 1), "output_size always 1"),
        (lambda: torch.nn.RNN(3, 2)(random_tensor(shape=(2, 1, 3), dtype="float32"))[0], "hidden_size always 2"),
    ],
)
def test_a_positional_argument_has_the_name_of_the_overload_that_takes_such_a_value(body, told):
    (lines,) = [lines for lines in gaps(covered(body)).values() if told in lines] or [[]]
    assert [line for line in lines if line.startswith(told.partition(" always")[0])] == [told]


def test_an_attribute_that_computes_a_tensor_is_an_operator():
    coverage = covered(lambda: random_tensor(ndim=2, low=1).T)
    assert gaps(coverage) == {"T": ["never a negative value", "never a zero"]}


def test_what_one_of_two_tensors_never_had_is_told():
    said = "never a negative value or a zero in the second tensor"
    assert gaps(covered(lambda: torch.div(random_tensor(ndim=2), random_tensor(ndim=2, low=1)))) == {"div": [said]}
    swapped = covered(lambda: torch.sub(random_tensor(ndim=2, low=1), random_tensor(ndim=2)))
    assert gaps(swapped) == {"sub": [said.replace("second", "first")]}
    for body in (lambda: torch.fmod(*_open_pair()), lambda: _open_pair()[0] - _open_pair()[1], _less):
        assert gaps(covered(body)) == {}


def _open_pair():
    return random_tensor(ndim=2), random_tensor(ndim=2)


def _less():
    return torch.lt(*_open_pair())


def test_calls_with_a_number_do_not_hide_that_two_tensors_never_broadcast():
    coverage = merged([covered(_of_one_open_shape), covered(lambda: torch.add(random_tensor(ndim=2), random(1, 5)))])
    assert gaps(coverage)["add"] == ["never tensors that broadcast"]


@pytest.mark.parametrize(
    "body",
    [
        lambda: torch.nn.Embedding(10, random())(random_tensor(ndim=2, dtype=int, low=0, high=10)),
        lambda: torch.bincount(random_tensor(ndim=1, dtype=int, low=0, high=10)),
        lambda: torch.nn.functional.binary_cross_entropy(*[random_tensor(ndim=2, low=0, high=1)] * 2),
    ],
)
def test_numbers_that_an_operator_refuses_are_no_gap(body):
    lines = [line for lines in gaps(covered(body)).values() for line in lines]
    assert [line for line in lines if "negative" in line or "NaN" in line] == []


def test_complex_numbers_count_by_their_parts():
    features = covered(lambda: torch.abs(random_tensor(ndim=2, dtype="complex64")))["abs"]
    assert {"negative", "zero", "ties", "not finite"} <= features.keys()


def test_the_table_says_nothing_of_broadcasting_where_unlike_shapes_mean_something_else():
    inner = random(1, 6)
    body = lambda: torch.matmul(random_tensor(ndim=2, dim1=inner), random_tensor(ndim=2, dim0=inner))  # noqa: E731
    assert table(covered(body, special_values=False))[1].split()[8] == "-"
    assert table(covered(_summed))[1].split()[8] == "10"


def test_many_numbers_of_an_argument_are_one_entry_of_the_table():
    line = table(covered(lambda: torch.clamp(random_tensor(ndim=2), random(-2.0, 0.0))))[1]
    assert " min from -2 to -0." in line
    assert "min=" not in line


def test_an_argument_that_is_a_tensor_in_some_calls_is_not_always_a_number():
    def body():
        if random_bool().value():
            return torch.mul(random_tensor(ndim=2), 3.0)
        return torch.mul(random_tensor(ndim=2), torch.tensor(2.0))

    assert gaps(covered(body)) == {}
    numbers = covered(lambda: 2 + random_tensor(ndim=2))
    assert gaps(numbers) == {"add": ["input always 2"]}
    assert gaps(merged([numbers, covered(lambda: random_tensor(ndim=2) + random_tensor(ndim=2))])) == {}


def test_the_table_counts_the_calls_that_leave_an_argument_out():
    coverage = covered(lambda: torch.sum(random_tensor(ndim=2), dim=random(-2, 2) | nothing()))
    given = sum(times for feature, times in coverage["sum"].items() if feature.startswith("argument dim"))
    assert table(coverage)[1].endswith(f"no dim {20 - given}")
    assert "no dim" not in table(covered(lambda: torch.sum(random_tensor(ndim=2), dim=1)))[1]


def test_the_table_says_what_its_numbers_are():
    lines = table(covered(lambda: torch.sum(random_tensor(ndim=2), dim=1)))
    assert "rank 2 20" in lines[1]
    assert "dim=1 20" in lines[1]
    assert lines[0].split()[:2] == ["operator", "calls"]


@pytest.mark.parametrize(
    ("body", "refused"),
    [
        (lambda: torch.nn.functional.max_pool2d(_image(), 1, padding=random(1, 3) | nothing()), ["padding"]),
        (lambda: torch.nn.functional.max_pool2d(_image(), 3, padding=random(1, 3) | nothing()), []),
        (lambda: torch.nn.MaxPool2d(1, padding=random(1, 3) | nothing())(_image()), ["padding"]),
        (lambda: torch.sum(random_tensor(ndim=2), dim=oneof(1, 7)), []),
        (lambda: torch.sum(random_tensor(ndim=2), dim=constant(7) | nothing()), ["dim"]),
        (lambda: torch.sum(torch.sum(random_tensor(ndim=2)).reshape(1, 1), dim=oneof(0, 7)), []),
    ],
)
def test_an_argument_that_was_never_accepted_is_told(body, refused):
    lines = [line for found in gaps(covered(body)).values() for line in found]
    assert [line for line in lines if "accepted" in line] == [f"{name} never accepted" for name in refused]


def _image():
    return random_tensor(ndim=4, dim2=6, dim3=6)


@pytest.mark.parametrize(
    ("body", "operator"),
    [
        (lambda: torch.log(torch.clamp(random_tensor(ndim=2), 1, 2)), "log"),
        (lambda: torch.square(torch.ones(2, 2)), "square"),
        (lambda: torch.nn.ReLU()(torch.abs(random_tensor(ndim=2))), "nn.ReLU"),
    ],
)
def test_an_operator_of_results_alone_is_in_the_table_and_lacks_nothing(body, operator):
    coverage = covered(body)
    assert coverage[operator]["computed operands"] == 20
    assert "trials" not in coverage[operator]
    assert operator not in gaps(coverage)
    assert any(line.startswith(operator) and line.endswith(" computed operands 20") for line in table(coverage))


def test_calls_that_compute_nothing_with_tensors_are_no_operators():
    def body():
        x = random_tensor(ndim=2, dim0=4)
        first = torch.sort(x)[0]
        optimizer = torch.optim.SGD([x], lr=0.1)
        torch.sum(first).backward()
        optimizer.step()
        return first.shape[0]

    assert covered(body, auto_backward=False).keys() == {"sort", "sum", "optim.SGD"}


def test_a_call_that_asks_for_gradients_is_no_trial_of_the_operator():
    def body():
        x = random_tensor(ndim=2)
        return torch.autograd.grad(torch.sum(x), (x,))

    assert covered(body)["sum"]["trials"] == 20


def test_an_operator_that_was_hardly_tried_is_not_judged_and_the_table_says_so():
    coverage = covered(lambda: torch.relu(random_tensor(shape=(2,), low=0, high=1)), n=5)
    assert gaps(coverage) == {}
    assert closing(coverage) == []
    assert table(coverage)[-1] == "1 operator had fewer than 20 calls, too few to tell what was never drawn"


def test_the_table_does_not_speak_of_too_few_trials_where_nothing_is_lacking():
    coverage = covered(lambda: torch.relu(random_tensor(ndim=2)))
    assert "fewer" not in table(coverage)[-1]
    halves = {"relu": {feature: times // 2 + 1 for feature, times in coverage["relu"].items()}}
    assert "fewer" not in table(halves)[-1]


def test_a_gradient_that_was_never_compared_shows_in_the_table():
    coverage = covered(lambda: torch.relu(random_tensor(ndim=2, requires_grad=False)), auto_backward=False)
    assert "gradient" not in coverage["relu"]
    assert coverage["relu"]["trials"] == 20
    assert any(line.startswith("relu") for line in table(coverage))


def _without_grad():
    with torch.no_grad():
        return torch.relu(random_tensor(ndim=2))


@pytest.mark.parametrize(
    ("body", "operators"),
    [
        (lambda: torch.relu(random_tensor(ndim=2, requires_grad=False)), ["relu"]),
        (_without_grad, ["relu"]),
        (lambda: torch.add(random_tensor(ndim=2, requires_grad=False), _without_grad()), ["add", "relu"]),
        (lambda: torch.nn.ReLU()(random_tensor(ndim=2, requires_grad=False)), ["nn.ReLU"]),
        (lambda: torch.relu(random_tensor(ndim=2)), []),
        (lambda: torch.nn.Linear(3, random())(random_tensor(ndim=2, dim1=3, requires_grad=False)), []),
    ],
)
def test_a_gradient_that_a_test_prevents_is_told(body, operators):
    found = gaps(covered(body))
    assert [operator for operator, lines in found.items() if "never a gradient compared" in lines] == operators


def test_a_gradient_beyond_results_of_other_calls_counts_as_compared():
    in_place = covered(lambda: torch.relu_(random_tensor(ndim=2, requires_grad=False)))
    assert gaps(in_place) == {"relu_": ["never a gradient compared"]}
    of_results = covered(lambda: torch.relu_(random_tensor(ndim=2) * 2))
    assert gaps(merged([in_place, of_results])).get("relu_") is None


def _written_into_out():
    x = random_tensor(ndim=2, requires_grad=False)
    return torch.rsqrt(x, out=torch.empty_like(x))


@pytest.mark.parametrize(
    "body",
    [
        _written_into_out,
        lambda: torch.argmax(random_tensor(ndim=2)),
        lambda: torch.isnan(random_tensor(ndim=2)),
        lambda: torch.eq(random_tensor(ndim=2, requires_grad=False), random_tensor(ndim=2, requires_grad=False)),
        lambda: torch.zeros_like(random_tensor(ndim=2)),
        lambda: torch.sign(random_tensor(ndim=2, requires_grad=False)),
        lambda: random_tensor(ndim=2).detach(),
        lambda: random_tensor(ndim=2).new_tensor([1.0]),
        lambda: torch.bitwise_not(random_tensor(ndim=2, dtype="int64")),
    ],
)
def test_an_operator_that_has_no_gradient_lacks_none(body):
    assert "never a gradient compared" not in [line for lines in gaps(covered(body)).values() for line in lines]


def test_a_test_that_says_that_it_compares_no_gradient_is_believed():
    def body():
        return torch.relu(random_tensor(ndim=2))

    assert gaps(covered(skip_grad_check(reason="of the forward only")(body), auto_backward=False)) == {}


def test_a_known_divergence_that_ends_a_trial_before_its_backward_is_no_gap(tmp_path):
    def refusing(*_):
        raise RuntimeError("not supported")

    entry = LedgerEntry("known", "*", "exception", "relu refuses everything", "relu")
    tally = trials(
        lambda: torch.relu(random_tensor(ndim=2)),
        tmp_path,
        FaultyTorch({"relu": lambda relu: refusing}),
        ledger=Ledger((entry,)),
        options={"coverage": True},
    )
    assert tally.expected
    assert "never a gradient compared" not in gaps(merged(tally.coverage)).get("relu", ())


def test_a_gradient_counts_for_the_operators_that_it_flows_through():
    coverage = covered(lambda: torch.add(random_tensor(ndim=2), _without_grad()))
    assert coverage["add"]["gradient"] > 10
    assert "gradient" not in coverage["relu"]


def test_nothing_is_counted_where_nobody_asks(monkeypatch):
    monkeypatch.setenv("AUTOTEST_COVERAGE", "0")
    assert covered(lambda: torch.relu(random_tensor(ndim=2))) == {}


def test_trials_in_worker_processes_count_as_well(suite, run, against, monkeypatch):
    against().names = ("torch", "torch")  # another process could create it by this name
    monkeypatch.setattr(isolated_runner, "Workers", lambda conditions, jobs, in_turn: InProcess(conditions))
    suite("@autotest()\ndef test_it():\n    return torch.relu(random_tensor(ndim=2, low=1))\n")
    result = run("--autotest-isolate", "--autotest-coverage")
    result.assert_outcomes(passed=1)
    result.stdout.fnmatch_lines(["*relu: never a negative value*", "relu *20 *", "*never a negative value"])


def test_the_inputs_of_a_trial_count_once_for_several_candidates(suite, run):
    suite("@autotest()\ndef test_it():\n    return torch.tanh(random_tensor(ndim=2))\n")
    result = run("--autotest-coverage", "--autotest-candidate", "torch,tests.support.faults:wrong_relu")
    result.assert_outcomes(passed=1)
    result.stdout.re_match_lines([r"tanh +20 .* 17  .*rank 2 20"])
