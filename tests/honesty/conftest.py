"""Self-tests of honesty: each plants a known fault of other harnesses and requires that `@autotest` finds it.

The same run without the fault must pass, which the fixture `caught` checks each time. The pair is torch with faulty
torch, so these tests run without OneFlow. That each fault is found by its own check, and not by chance, is shown by
`test_checks_are_needed`, which removes the checks one by one. The faults, by their number in the project's list:

====== ============================================================================================
fault  tests
====== ============================================================================================
1      test_comparison_faults: test_a_shape_that_would_broadcast
2      test_comparison_faults: test_another_dtype, test_an_integer_within_a_relative_tolerance
3      test_comparison_faults: test_tolerance_is_relative_to_the_reference, test_rtol_is_not_atol
4      test_comparison_faults: test_a_gradient_on_one_side_only, test_a_gradient_of_another_shape
5      test_comparison_faults: test_a_wrong_gradient_behind_one_of_several_outputs, test_a_forgotten_return
6      test_comparison_faults: test_a_wrong_bfloat16, test_a_wrong_plain_float, test_an_empty_tuple_that_is_not_empty
7      test_comparison_faults: test_a_wrong_plain_fact_about_a_tensor, test_a_tensor_on_another_device
8      test_comparison_faults: test_a_missing_parameter, test_a_wrong_gradient_in_a_nested_module
9      test_comparison_faults: test_a_nan_that_became_zero, test_an_infinity_of_the_other_sign,
       test_only_the_mean_is_right
10     test_comparison_faults: test_a_fault_after_what_is_none_on_both_sides, test_a_fault_deep_inside_of_a_container
11     test_comparison_faults: test_one_wrong_element_among_many, test_five_percent
12     test_comparison_faults: test_an_answer_that_is_always_zero
13     test_graph_faults: test_a_wrong_graph_fails_the_test, test_a_right_graph_passes
14     test_randomness_faults: test_two_runs_draw_the_same, test_a_generator_at_module_level_draws_anew_in_each_trial
15     test_randomness_faults: test_an_untyped_generator_is_never_none, test_a_positional_nothing_is_no_argument
16     test_randomness_faults: test_random_numbers_are_the_same_data_on_both_sides
17     test_randomness_faults: test_declared_shapes_and_bounds_are_the_ones_tested
18     test_rejection_faults: test_a_misspelt_name_is_told_at_once, test_endless_refusals_end_with_their_cause
19     test_rejection_faults: test_a_fault_of_the_harness_itself_is_no_refusal, test_stop_iteration_is_not_swallowed,
       test_a_failure_leaves_no_state
20     test_rejection_faults: test_a_call_that_only_the_reference_refuses, test_a_call_that_only_the_candidate_refuses
21     test_proxy_faults: test_an_assigned_attribute_reaches_both_sides
22     test_proxy_faults: test_bool_len_and_hash_work_and_are_compared, test_containers_are_unwrapped
23     test_proxy_faults: test_a_reused_identity_hides_nothing, test_no_class_is_made_for_an_object
24     test_reporting_faults: test_the_reproducer_runs_and_shows_it, test_the_report_has_position_count_and_maximum
25     test_reporting_faults: test_the_first_failure_hides_no_other, test_a_divergence_of_infinities_is_told
       (that one crash costs one worker and no run is shown in tests/fuzz)
26     test_comparison_faults: test_a_gradient_that_a_uniform_cotangent_hides
27     test_reporting_faults: test_a_script_that_does_not_reproduce_says_so, test_shrinking_keeps_to_the_failure
====== ============================================================================================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from autotest import Divergence, autotest, skip_grad_check
from autotest.frameworks import Framework


@pytest.fixture(autouse=True)
def _quick(quick: object) -> None:
    """Remove the settings of the outer run."""


@pytest.fixture
def caught(against: Callable[..., object]) -> Callable[..., Any]:
    """Return ``caught(body, fault, symptom)``: it must pass without the fault and fail with it; returns the error."""

    def check(body: Callable[[], Any], fault: Framework, symptom: str = "", **settings: Any) -> Divergence:
        # The comparison must find the fault, and not the gate that requires gradients.
        test = skip_grad_check(reason="planted faults")(autotest(**{"n": 3, **settings})(body))
        against()
        test()
        against(fault)
        with pytest.raises(Divergence) as raised:
            test()
        if symptom:
            found = [mismatch.symptom for mismatch in raised.value.finding.mismatches]
            assert symptom in found, str(raised.value)
        return raised.value

    return check
