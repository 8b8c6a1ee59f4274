"""The decorator `@autotest`, with which unittest and pytest run a test as random trials."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, TypeVar

from autotest.base.calling import joined, raises_at_caller
from autotest.base.errors import GradientNotCompared, NotDual, NothingCompared, TooFewAccepted, UsageError
from autotest.base.options import Options, from_environment
from autotest.base.settings import Limit, Settings
from autotest.base.units import duration
from autotest.frameworks import Pair, chosen_pairs
from autotest.recording.recorder import current
from autotest.report.activity import shown_on
from autotest.running.runner import run_test
from autotest.running.several_candidates import against_each, run_against_several
from autotest.sources.decorated_functions import checked, must_fit, taken_by_position
from autotest.sources.hypothesis_examples import Example, example_now, options_for, refused, tracing_tests_only
from autotest.sources.outside_draws import SIDES
from autotest.sources.source_locations import redefinition_warning, return_location
from autotest.sources.test_names import current_name, owner_of, path_of
from autotest.sources.unittest_draws import draw_by_test_case
from autotest.trials.context import RunContext, ledger_of
from autotest.trials.decorated import Test
from autotest.trials.driver import driver
from autotest.trials.given_pair import for_candidates, found, maker_of, with_graph_mode
from autotest.trials.plain_subtests import plain_subtests
from autotest.trials.unchanged_generators import UnchangedGenerators

# Hide the frames of this module in the tracebacks of pytest and unittest.
__tracebackhide__ = True
__unittest = True

F = TypeVar("F", bound=Callable[..., Any])


@raises_at_caller
def autotest(
    n: int = 20,
    rtol: Limit = None,
    atol: Limit = None,
    *,
    auto_backward: bool | Literal["auto"] = True,
    grad_rtol: Limit = None,
    grad_atol: Limit = None,
    check_graph: bool = False,
    check_values: bool | None = None,
    check_allclose: bool | None = None,
    check_dtype: bool = True,
    check_errors: bool = False,
    special_values: bool | None = None,
    check_grad: Literal["dual", "intermediate", "numeric", "forward"] = "dual",
    grad_order: Literal[1, 2] = 1,
    seed: int | None = None,
    deadline: float | str | None = None,
    candidate: str = "",
    pair: Pair | Callable[[], Pair] | None = None,
    pinned: tuple[int, int] | Iterable[tuple[int, int]] = (),
) -> Callable[[F], F]:
    """Run the decorated test as random trials on two frameworks and fail on the first divergence.

    The test draws its arguments with generators, makes calls of the dual ``torch``, and returns what is compared::

        @autotest(n=20)
        def test_matmul():
            inner = random(1, 8)
            return torch.matmul(random_tensor(ndim=2, dim1=inner), random_tensor(ndim=2, dim0=inner))

    When it runs, it raises `Divergence` if the frameworks disagree, `TooFewAccepted` if the reference refuses nearly
    all trials, and `NothingCompared` or `GradientNotCompared` if passing would mean nothing.

    Args:
        n: number of trials that the reference must accept.
        rtol, atol: tolerance of floating and complex values, ``|actual - expected| <= atol + rtol * |expected|``,
            where expected is the reference's value: a number, or a mapping from dtypes such as ``{"float16": 1e-2}``.
            The default, also for dtypes that a mapping leaves out, is `autotest.base.settings.DEFAULT_TOLERANCES`.
            Integers and booleans are compared exactly. A test of five trials or more fails if zeros would pass in each
            of its comparisons.
        auto_backward: run a backward pass with drawn cotangents through the test's return value (through every result
            that nothing used, if it returns None). With ``"auto"`` it is no error if no result can have a gradient.
        grad_rtol, grad_atol: tolerance of gradients; by default, also for dtypes that a mapping leaves out, that of
            values.
        check_graph: also run the program in the candidate's graph mode and compare the results. It is an error if the
            candidate has no graph mode.
        check_values: whether values are compared, which is the default; if not, only structure, shape, dtype, device
            and requires_grad are. ``check_allclose`` is another name for it, which OneFlow's tests use.
        check_dtype: whether dtypes are compared.
        check_errors: also make calls that the reference rejects on the candidate, which must reject them, too.
        special_values: whether NaN, infinities, -0.0, subnormal and the greatest numbers are drawn if the test does not
            restrict the values, and whether differences count that only these, or the edge of a domain, explain. If
            omitted, they are and they do, unless the process or the project says otherwise.
        check_grad: what gradients are compared with. ``"dual"``: the gradients of the other framework.
            ``"intermediate"``: also the gradients of all intermediate results, since errors may cancel before they
            reach an input; only for cotangents of `auto_backward`. ``"numeric"``: as ``"dual"``, and on each side also
            central differences of its own forward in float64. Draw inputs of 100 elements or more, so that vectorised
            code runs and no wrong element is missed. ``"forward"``: as ``"numeric"``, and also forward mode if a
            framework has it.
        grad_order: 2 also compares second-order gradients.
        seed: base seed of the test's trials. For `seed`, `deadline`, `candidate` and `special_values`, the command line
            and the process's environment variables take precedence over the argument, and the argument over the
            project's ``[tool.autotest]``.
        deadline: time that a trial in a worker process may take: seconds, or text such as ``"2m"``.
        candidate: the framework under test: a registered name, or ``"module:factory"``.
        pair: the two frameworks, or a function that returns them. It takes precedence over everything else.
        pinned: trials that are always run first: ``(base seed, trial)``, as a report names them, or several of these.

    Raises:
        UsageError: at decoration, if an argument is not allowed.
    """
    if callable(n):
        raise UsageError("@autotest needs parentheses: write @autotest() or @autotest(n=20)")
    if str(rtol) in ("True", "False", "auto"):
        said = "the second argument is rtol, a number or a mapping"
        raise UsageError(f"autotest({n!r}, {rtol!r}): {said}; write auto_backward={rtol!r}")
    if pair is not None and candidate:
        raise UsageError(
            f"autotest(pair=..., candidate={candidate!r}): expected only one of them, because a pair "
            "contains its candidate"
        )
    check_values = joined("autotest", check_values=check_values, check_allclose=check_allclose)
    if check_values is False:
        _need_no_values(rtol=rtol, atol=atol, grad_rtol=grad_rtol, grad_atol=grad_atol)
        if check_grad == "intermediate":
            _need_no_values(check_grad=check_grad)
        if grad_order == 2 and check_grad == "dual":  # the numeric checks compare each side with itself
            _need_no_values(grad_order=grad_order)
    settings = Settings(
        n=n,
        rtol=rtol,
        atol=atol,
        auto_backward=auto_backward,
        grad_rtol=grad_rtol,
        grad_atol=grad_atol,
        check_graph=check_graph,
        check_values=True if check_values is None else check_values,
        check_dtype=check_dtype,
        check_errors=check_errors,
        special_values=True if special_values is None else special_values,
        gives_special_values=special_values is not None,
        check_grad=check_grad,
        grad_order=grad_order,
        seed=seed,
        deadline=_seconds(deadline),
        candidate=candidate,
        pinned=_pairs(pinned),
        has_pair=pair is not None,
    )
    if given := settings.passes_zeros:
        said = "zeros pass for any expected numbers, also where a gradient is lost; expected a number below 1"
        warnings.warn(f"autotest({given}): {said}, or check_values=False to compare no values", stacklevel=3)
    sides = (lambda: chosen_pairs(candidate)) if pair is None else maker_of(pair)
    chosen = (lambda: with_graph_mode(sides())) if check_graph else sides

    def decorator(function: F) -> F:
        if (lost := redefinition_warning(function, sys._getframe(1).f_locals)) is not None:
            warnings.warn(lost, stacklevel=2)
        return decorate(function, settings, chosen)

    return decorator


def _need_no_values(**given: Any) -> None:
    """Raise `UsageError` if one of the arguments `given` is not None, because values are not compared."""
    for name, value in given.items():
        if value is not None:
            said = "expected check_values=True as well, because without it no value is compared"
            raise UsageError(f"autotest({name}={value!r}): {said}")


def _seconds(deadline: float | str | None) -> float | None:
    return duration(deadline, f"autotest(deadline={deadline!r})") if isinstance(deadline, str) else deadline


def _pairs(pinned: Any) -> tuple[tuple[int, int], ...]:
    """Return `pinned`, one ``(base seed, trial)`` or several, as a tuple of these."""
    listed = tuple(pinned) if isinstance(pinned, Iterable) else (pinned,)
    return (listed,) if len(listed) == 2 and all(type(item) is int for item in listed) else listed


def decorate(
    function: F,
    settings: Settings,
    pair: Callable[[], Pair | tuple[Pair, ...]] = chosen_pairs,
    asked: Callable[[], Options] = from_environment,
) -> F:
    """Return a test that runs `function` as trials.

    Args:
        function: the test's function or method; also a static method, a class method or a `functools.partial`.
        settings: the settings of the test.
        pair: returns the two frameworks, or several pairs if there are several candidates. It is called when the test
            runs.
        asked: returns the options of the process. It is called when the test runs.

    Raises:
        UsageError: `function` cannot be run as trials.
    """
    if isinstance(function, (staticmethod, classmethod)):
        return type(function)(decorate(function.__func__, settings, pair, asked))
    bound = functools.partial(checked(function))
    written = bound.func  # the function in the source file: a partial has no name and no source lines
    file = path_of(inspect.getfile(inspect.unwrap(written)))
    draw_by_test_case()
    usual = taken_by_position(function)
    parameters = inspect.signature(bound) if usual is None else None

    @functools.wraps(written)
    def run(*args: Any, **kwargs: Any) -> None:
        with plain_subtests(args, kwargs):
            environment = asked()
            # skip_grad_check may have added to the settings
            asks = environment.for_test(run.__autotest__)  # type: ignore[attr-defined]
            called = current_name(run, written, file, args)
            if (outer := current()) is not None:
                outer.other_tests.append(called.name)
            shown = args if owner_of(run, args) is None else args[1:]
            example = example_now()
            # The seed must not depend on a Hypothesis example: shrinking the example would change all drawn values.
            own = ((), {}) if example is not Example.NONE else (shown, kwargs)
            given = (*bound.args, *own[0]), {**bound.keywords, **own[1]}
            if kwargs or len(args) != usual:
                must_fit(written, called.name, parameters or inspect.signature(bound), args, kwargs)
            sides = found(pair, asks.candidate, written)
            test = Test(called.id(*given), lambda: bound(*args, **kwargs), for_candidates(asks, sides), called.file)
            try:
                with UnchangedGenerators(), shown_on(sys.stderr), tracing_tests_only():
                    options = options_for(example, environment.of_test(asks))
                    _run(test, _context(sides, options, called.file))
            except TooFewAccepted:
                refused(example)
                raise
            except NotDual as error:
                raise UsageError(f"{return_location(written)}: {called.name} {error}") from None
            except (NothingCompared, GradientNotCompared) as error:
                raise type(error)(f"{return_location(written)}: {called.within_file(*given)}", error.said) from None

    if isinstance(function, functools.partial):
        run.__wrapped__ = function  # its signature does not include the arguments that are bound already
    reason = getattr(function, _SKIPS, None)
    asked_for = settings if reason is None else dataclasses.replace(settings, skip_grad=reason)
    run.__autotest__ = asked_for  # type: ignore[attr-defined]
    setattr(run, SIDES, pair)
    return run  # type: ignore[return-value]


def _context(sides: Pair | tuple[Pair, ...], options: Options, file: Path) -> RunContext:
    """Return the context of a test's trials against one candidate or several."""
    pairs = sides if isinstance(sides, tuple) else (sides,)
    first, *others = [RunContext(each, options, _ledger(file, each, options.ledger)) for each in pairs]
    return dataclasses.replace(first, others=tuple(others)) if others else first


@raises_at_caller
def skip_grad_check(*function: Any, reason: str = "") -> Callable[[F], F]:
    """Let the trials of a test pass without comparing a gradient; write it above or below `@autotest`.

    Args:
        reason: why the gradients cannot or need not be compared; ``autotest gradients`` prints it.

    Raises:
        UsageError: at decoration, if the reason is empty or the decorated object is no function.
    """
    why = str(reason or "").strip()
    if function or not why:
        raise UsageError(f"skip_grad_check(reason={reason!r}): expected a reason why no gradient is compared")

    def mark(function: F) -> F:
        if isinstance(function, type) or not (callable(function) or isinstance(function, classmethod)):
            raise UsageError(f"@skip_grad_check marks test functions and methods, not {function!r:.80}")
        setattr(function, _SKIPS, why)
        layer: Any = function
        while layer is not None:  # other decorators may stand between this one and @autotest
            asks = vars(layer).get("__autotest__") if hasattr(layer, "__dict__") else None
            if isinstance(asks, Settings):
                layer.__autotest__ = dataclasses.replace(asks, skip_grad=why)
            layer = getattr(layer, "__wrapped__", None)
        return function

    return mark


#: Name of the attribute in which `skip_grad_check` stores its reason for an `@autotest` that is applied after it.
_SKIPS = "__autotest_skip_grad__"


def _run(test: Test, context: RunContext) -> None:
    """Run a test in this process, by the driver set in this context, or in a worker process if its ledger says so."""
    elsewhere = driver()
    parity = test.settings.check_errors
    kills = any(each.ledger.expects_death(test.id, error_parity=parity) for each in context.each)
    if context.others and elsewhere is None and not kills:
        run_against_several(test, context)
        return
    if context.others:  # each candidate in its own process, so that a crash does not affect the others
        against_each(test, context, _run)
        return
    if elsewhere is None and kills:
        from autotest.campaigns import isolated_runner  # imports the pool of processes, which few runs need

        elsewhere = isolated_runner.shared(os.getpid())
    if elsewhere is None:
        run_test(test, context)
    else:
        elsewhere(test, context)


_ledger = functools.lru_cache(maxsize=256)(ledger_of)
