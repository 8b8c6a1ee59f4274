"""Compares a model with its port: with the same weights and inputs, the output of every module."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from autotest.aligning import running, validation
from autotest.aligning.alone import differs_alone
from autotest.aligning.comparing import Differing, StepComparison, compare_step
from autotest.aligning.matching import Match, NameMapping, match, module_names
from autotest.aligning.port import Port
from autotest.aligning.rounding import beyond_rounding
from autotest.aligning.running import TrainingStep
from autotest.base.errors import UsageError
from autotest.base.settings import Tolerance
from autotest.comparison import Mismatch
from autotest.frameworks import Framework, Pair, chosen_pair
from autotest.frameworks.failures import nothing_of_its_own
from autotest.frameworks.random_state import random_state_kept
from autotest.program import Array
from autotest.program.dtypes import is_floating
from autotest.replaying.module_alone import state_of
from autotest.report.layers import aligned
from autotest.results.divergence import Divergence
from autotest.results.layers import ByLayer
from autotest.results.zeros_tally import ZerosOfStage

#: Tolerance of the comparison in double precision: a hundredth of that for single precision. Smaller differences mean
#: nothing, because some frameworks keep learning rates and momenta in single precision even then.
_WIDE = Tolerance(1e-6, 1e-7)


@dataclasses.dataclass(frozen=True, slots=True)
class Alignment:
    """The result of comparing two models.

    Attributes:
        sides: the names of the two frameworks.
        matched: the pairs of corresponding parameters and buffers.
        unmatched: names in the reference, and in the candidate, without a counterpart.
        mismatches: the differences of the first step that has any.
        step: the number of that step, from 0.
        network: the module where the divergence begins ("" is the whole model, if it is wrong alone), and the
            difference of each module.
        notes: a sentence for each difference in how the models are set up, such as their modes.
        rounding: the largest difference, as a multiple of the tolerance, that proved to be rounding; 0 for none.
    """

    sides: tuple[str, str]
    matched: tuple[Match, ...]
    unmatched: tuple[tuple[str, ...], tuple[str, ...]]
    mismatches: tuple[Mismatch, ...] = ()
    step: int = 0
    network: ByLayer | None = None
    rounding: float = 0.0
    notes: tuple[str, ...] = ()
    #: The values of the first step that has mismatches which differ.
    differing: Differing = dataclasses.field(default_factory=dict, repr=False)
    #: The outputs of modules that zeros would pass as, if a tolerance is given.
    zeros: ZerosOfStage = dataclasses.field(default_factory=ZerosOfStage, repr=False)

    @property
    def passed(self) -> bool:
        """Whether everything was matched and nothing differs."""
        return not (self.mismatches or any(self.unmatched))

    def report(self) -> str:
        """Return the whole result as text."""
        return aligned(self)

    __str__ = report

    def check(self) -> Alignment:
        """Return this alignment if it passed.

        Raises:
            Divergence: It did not pass; the message is the report.
        """
        if not self.passed:
            raise Divergence(self.report())
        return self


def align(
    reference_model: Any,
    candidate_model: Any,
    inputs: Any,
    *,
    mapping: NameMapping | None = None,
    loss: Callable[..., Any] | None = None,
    optimizer: Callable[..., Any] | None = None,
    steps: int = 1,
    rtol: float | None = None,
    atol: float | None = None,
    pair: Pair | None = None,
) -> Alignment:
    """Compare a model of the reference with a port of it, module by module.

    The reference's weights are copied into the candidate's model, both are called on `inputs`, and the outputs of every
    module are compared in the order of execution; then gradients, then parameters and buffers after each step.
    Differences that disappear in double precision, where every step begins with the reference's weights, are rounding.
    The random generators of both frameworks are left as they were.

    Args:
        reference_model: a module of the reference, such as a ``torch.nn.Module``.
        candidate_model: a module of the candidate, or another one of the reference.
        inputs: the arguments for both models: an array or tensor, or a tuple or list of these.
        mapping: the reference's names of parameters, buffers or whole modules -> the candidate's. A value may also be
            ``(name, "transpose")`` or ``(name, axes)`` if the candidate's parameter has its axes in another order.
        loss: ``loss(output)`` or ``loss(namespace, output)``, which returns a scalar for the backward; if left out,
            fixed cotangents are used for all outputs.
        optimizer: ``optimizer(parameters)`` or ``optimizer(namespace, parameters)``, which returns an optimizer whose
            ``step()`` is called after each backward; if left out, there are no updates.
        steps: number of steps; more than one requires an `optimizer`.
        rtol, atol: tolerance; the default depends on the dtype.
        pair: the frameworks of the two models; the default is the pair that the environment selects.

    Raises:
        UsageError: the models belong to other frameworks, draw random numbers, have no values yet or return none, or
            another argument is invalid; the message says which one, and what is expected. Also if the given tolerance
            accepts zeros as the result of every module.
    """
    validation.check_numbers(steps, rtol, atol, optimizer)
    pair = _pair(chosen_pair() if pair is None else pair, reference_model, candidate_model)
    training, models = running.Training(steps, loss, optimizer), (reference_model, candidate_model)
    with random_state_kept(pair.reference), random_state_kept(pair.candidate):
        return _aligned(pair, models, inputs, {} if mapping is None else mapping, training, Tolerance(rtol, atol))


def _aligned(
    pair: Pair, models: tuple[Any, Any], inputs: Any, mapping: NameMapping, training: running.Training, given: Tolerance
) -> Alignment:
    frameworks = pair.frameworks
    for framework, side, model in zip(frameworks, pair.sides, models, strict=True):
        if framework.draws(model):
            raise UsageError(
                f"the {side} model draws random numbers (dropout in training): call .eval() on both "
                "models, or set the probability to 0"
            )
    arrays = _arrays(pair.reference, inputs)
    models = validation.of_own_memory(pair, models)
    own, other = (validation.state(*each) for each in zip(frameworks, pair.sides, models, strict=True))
    shapes = [{name: value.data.shape for name, value in held.items()} for held in (own, other)]
    matches = match(shapes[0], shapes[1], mapping)
    modules = [[*side.modules(model)] for side, model in zip(frameworks, models, strict=True)]
    port = Port(pair, models, matches, module_names(matches, mapping, *modules))
    port.share_weights()
    notes = validation.settings(port, (own, other))
    wide = None if given.given else port.in_double_precision()
    own_calls = pair.candidate.own_calls
    try:
        found = _compared(port, training, arrays, given)
    except UsageError as error:
        raise (UsageError(f"{error}; {'; '.join(notes)}") if notes else error) from error.__cause__
    if pair.candidate.called_none_of_its_own(own_calls):
        raise UsageError(f"align: {nothing_of_its_own(pair.candidate.name)}, so nothing was compared")
    if not found.mismatches:
        validation.check_tolerance(found.zeros)
    if found.mismatches and wide is not None:
        found = _without_rounding(found, wide, training, [_widened(one) for one in arrays])
    return dataclasses.replace(found, notes=notes)


def _without_rounding(found: Alignment, wide: Port, training: running.Training, arrays: Sequence[Array]) -> Alignment:
    """Return the part of `found` that remains in double precision, with the models in `wide` and inputs `arrays`."""
    initial = wide.in_double_precision()
    try:
        # `together`: rounding of single-precision rates would accumulate over the steps without any fault.
        again = _compared(wide, training, arrays, _WIDE, together=True)
    except UsageError:  # a layer that is not registered, such as one in a list, stays in single precision
        return found
    if lacking := tuple(item for item in found.mismatches if item.statistics is None):
        # Mismatches that no precision explains, such as a missing gradient.
        return found if again.mismatches else dataclasses.replace(found, mismatches=lacking)
    if not again.mismatches:
        beyond = set() if initial is None else beyond_rounding(found.differing, initial, training, arrays, found.step)
        if wrong := tuple(item for item in found.mismatches if item.name in beyond):
            return dataclasses.replace(found, mismatches=wrong)
        network = None if found.network is None else dataclasses.replace(found.network, path="", alone=False)
        return dataclasses.replace(found, mismatches=(), network=network, rounding=_worst(found))
    # The first mismatch in single precision may be rounding, or a consequence of it, and hide the real one.
    same = again.step == found.step and found.mismatches[0].name in {one.name for one in again.mismatches}
    return found if same else again


def _compared(
    port: Port, training: running.Training, arrays: Sequence[Array], tolerance: Tolerance, *, together: bool = False
) -> Alignment:
    """Compare step by step until one differs; with `together`, each step begins with the same weights."""
    found = Alignment(port.pair.sides, port.matches.pairs, port.matches.unmatched)
    runs = [
        running.run(framework, side, model, arrays, training)
        for framework, side, model in zip(port.frameworks, port.pair.sides, port.models, strict=True)
    ]
    left = state_of(port.pair.candidate, port.models[1])
    for number, (own, other) in enumerate(zip(*runs, strict=True)):
        validation.check_returned(port.pair.sides[0], own)
        if not (together and number):  # then the weights have been shared since
            validation.check_unwritten(port.pair.sides, left, other.before)
        left = other.state
        compared = compare_step(own, other, port, tolerance)
        for call in own.calls if tolerance.given else ():
            found.zeros.count(call.outputs, tolerance)
        network = _locate(compared, own, port, tolerance)
        found = dataclasses.replace(
            found, mismatches=compared.mismatches, step=number, network=network, differing=compared.differing
        )
        if compared.mismatches:
            break
        if together:
            port.share_weights()
    return found


def _locate(compared: StepComparison, own: TrainingStep, port: Port, tolerance: Tolerance) -> ByLayer:
    """Locate the divergence of a step: the innermost module that differs when given the reference's inputs."""
    found = ByLayer(compared.path, bool(compared.path), compared.stage, compared.layers)
    if compared.call is None and not compared.suspects:
        # All computed values agree, so a buffer differs by its module's own fault.
        return found
    calls = {one.path: one for one in reversed(own.calls)}
    # If a module only passes on its inputs, the forward of a module that contains it is wrong.
    tried = compared.suspects or tuple(calls[path] for path in _ancestors(compared.path) if path in calls)
    with port.with_initial_weights(own):
        for call in tried:
            if call.path in port.paths and differs_alone(call, port, compared.stage, tolerance):
                return dataclasses.replace(found, path=call.path, alone=True)
    return dataclasses.replace(found, alone=False)


def _ancestors(path: str) -> Iterator[str]:
    """Yield `path` and the paths of all modules that contain it, the innermost first."""
    while path:
        yield path
        path = path.rpartition(".")[0]
    yield ""


def _widened(array: Array) -> Array:
    return Array(array.data.astype("float64"), "float64") if is_floating(array.dtype) else array


def _worst(found: Alignment) -> float:
    layers = () if found.network is None else found.network.layers
    return max([1.0, *(ratio for layer in layers for ratio in (layer.forward, layer.gradient) if ratio is not None)])


def _pair(pair: Pair, reference_model: Any, candidate_model: Any) -> Pair:
    """Return the pair for the models: `pair`, or the reference with itself if both models belong to it.

    If the candidate is the reference with operators of its own, the second model runs with these.

    Raises:
        UsageError: A model belongs to another framework.
    """
    reference = pair.reference
    if not isinstance(reference_model, reference.module_types):
        got = f"an object of type {type(reference_model).__name__}"
        raise UsageError(f"align: expected a module of {reference.name} first, got {got}; its port comes second")
    if candidate_model is reference_model:
        raise UsageError("align: the same model twice; expected a model and a port of it, so build it twice")
    if isinstance(candidate_model, reference.module_types) and pair.candidate.own_calls is None:
        pair = Pair(reference, reference)
        pair.sides = (f"{reference.name} (reference)", f"{reference.name} (port)")
        return pair
    if not isinstance(candidate_model, pair.candidate.module_types):
        raise UsageError(
            f"align: expected a module of {pair.candidate.name} or {reference.name} second, got an "
            f"object of type {type(candidate_model).__name__}; AUTOTEST_CANDIDATE=NAME chooses another framework"
        )
    return pair


def _arrays(framework: Framework, inputs: Any) -> list[Array]:
    if isinstance(inputs, Mapping):
        raise UsageError(
            "align(inputs=...): expected arrays or tensors in the order of forward's arguments, got a dict"
        )
    given = list(inputs) if isinstance(inputs, (tuple, list)) else [inputs]
    found = []
    for one in given:
        if isinstance(one, framework.tensor_types):
            value = framework.values([one])[0]
            found.append(value.as_array())
        else:
            data = np.asarray(one)
            if data.dtype.kind not in "fiubc":
                raise UsageError(f"align(inputs=...): expected arrays or tensors, got {one!r:.80}")
            found.append(Array(data.copy(), str(data.dtype)))
    return found
