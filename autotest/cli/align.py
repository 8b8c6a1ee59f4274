"""``autotest align MODULE:FACTORY MODULE:FACTORY``: compares a model with a port of it, module by module."""

from __future__ import annotations

import argparse
import difflib
import importlib
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from autotest.base.errors import UsageError
from autotest.cli import candidates
from autotest.cli.argument_types import positive
from autotest.cli.status import FINDINGS, NOTHING_NEW
from autotest.comparison.rejection import first_line


def add_to(commands: Any) -> None:
    """Add the subcommand to an argparse parser."""
    parser = commands.add_parser(
        "align",
        description="Copy the weights of a model into a port of it, call both on the same inputs, and compare the "
        "outputs of every module, then the gradients and, with --optimizer, the updated parameters.",
    )
    parser.add_argument("reference", metavar="MODULE:FACTORY", help="function that returns the model of the reference")
    parser.add_argument("candidate", metavar="MODULE:FACTORY", help="function that returns the port of that model")
    parser.add_argument(
        "--input",
        action="append",
        required=True,
        metavar="SHAPE",
        help='shape of an input, "1,3,224,224"; "2,6:int64:100" draws whole numbers below 100. Repeat for each input',
    )
    parser.add_argument(
        "--rename",
        action="append",
        default=[],
        metavar="NAME=NAME",
        help="name of a parameter, buffer or module in the reference, and its name in the port",
    )
    parser.add_argument(
        "--transpose",
        action="append",
        default=[],
        metavar="NAME[=NAME]",
        help="the same, for a parameter that is transposed in the port",
    )
    parser.add_argument(
        "--loss", metavar="MODULE:FUNCTION", help="function of (output) or (framework, output) that returns a scalar"
    )
    parser.add_argument(
        "--optimizer",
        metavar="MODULE:FUNCTION",
        help="function of (parameters) or (framework, parameters) that returns an optimizer",
    )
    parser.add_argument(
        "--steps",
        type=positive,
        default=1,
        metavar="N",
        help="number of training steps; more than one requires --optimizer (default %(default)s)",
    )
    parser.add_argument("--rtol", type=float, help="relative tolerance (default: by dtype)")
    parser.add_argument("--atol", type=float, help="absolute tolerance (default: by dtype)")
    parser.add_argument("--seed", type=int, default=0, help="seed of weights and inputs (default %(default)s)")
    candidates.add_to(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the subcommand and return the exit status."""
    if arguments.steps > 1 and arguments.optimizer is None:
        raise UsageError(
            f"--steps {arguments.steps}: without an optimizer every step repeats the first one; give --optimizer "
            "MODULE:FUNCTION, or leave --steps out"
        )
    if arguments.under_test is not None:
        candidates.must_run_call_by_call(
            arguments.under_test, "a model that it runs as a whole is the model of torch; test it with pytest"
        )
    from autotest.aligning.alignment import align
    from autotest.frameworks import chosen_pair

    sys.path.insert(0, "")  # modules of the working directory can be named, as under `python -m`
    factories = [_factory(name) for name in (arguments.reference, arguments.candidate)]
    drawn = np.random.Generator(np.random.PCG64(arguments.seed))
    inputs = [_input(text, drawn) for text in arguments.input]
    mapping: dict[str, Any] = {}
    for text in arguments.rename:
        name, other = _renamed(text)
        mapping[name] = other
    for text in arguments.transpose:
        name, other = _renamed(text) if "=" in text else (text, text)
        mapping[name] = (other, "transpose")
    pair = chosen_pair()
    pair.reference.seed(arguments.seed)
    reference, candidate = (
        _made(name, factory)
        for name, factory in zip((arguments.reference, arguments.candidate), factories, strict=True)
    )
    found = align(
        reference,
        candidate,
        inputs,
        mapping=mapping,
        loss=arguments.loss and _factory(arguments.loss),
        optimizer=arguments.optimizer and _factory(arguments.optimizer),
        steps=arguments.steps,
        rtol=arguments.rtol,
        atol=arguments.atol,
        pair=pair,
    )
    print(found.report())
    return NOTHING_NEW if found.passed else FINDINGS


def _factory(name: str) -> Callable[[], Any]:
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise UsageError(f"{name!r}: expected MODULE:FACTORY, such as mypackage.models:resnet")
    if "/" in module or module.endswith(".py"):
        dotted = module.removesuffix(".py").strip("./").replace("/", ".")
        raise UsageError(f"{name!r}: expected the name of a module, not of a file: {dotted}:{attribute}")
    try:
        found = importlib.import_module(module)
    except Exception as error:
        kind = "" if isinstance(error, ImportError) else f"{type(error).__name__}: "
        raise UsageError(f"{name!r}: {module} cannot be imported ({kind}{first_line(error)})") from error
    for part in attribute.split("."):
        known, found = dir(found), getattr(found, part, None)  # type: ignore[assignment]
        if found is None and (alike := difflib.get_close_matches(part, known, 1)):
            raise UsageError(f"{name!r}: {module} has no {attribute}; did you mean {alike[0]}?")
    if not callable(found):
        raise UsageError(f"{name!r}: {module} has no callable {attribute}")
    return found


def _made(name: str, factory: Callable[[], Any]) -> Any:
    if hasattr(factory, "named_modules") and not isinstance(factory, type):
        return factory  # it is a model already, not a factory
    try:
        return factory()
    except Exception as error:
        raise UsageError(
            f"{name}() raised {type(error).__name__}: {first_line(error)}. Expected a function without arguments "
            "that returns a model"
        ) from error


def _input(text: str, drawn: np.random.Generator) -> np.ndarray[Any, Any]:
    shape, _, rest = text.partition(":")
    dtype, _, below = rest.partition(":")
    try:
        sizes = tuple(int(size) for size in shape.split(",") if size.strip())
        kind = np.dtype(dtype or "float32")
        if kind.kind in "iu":
            return drawn.integers(0, int(below or 2), sizes).astype(kind)
        if sizes and kind.kind == "f" and not below:
            return drawn.standard_normal(sizes).astype(kind)
    except (TypeError, ValueError) as error:
        raise UsageError(f'--input {text}: expected "1,3,224,224" or "2,6:int64:100" ({error})') from error
    raise UsageError(f"--input {text}: expected SIZES, SIZES:FLOATING_DTYPE or SIZES:INTEGER_DTYPE:BOUND")


def _renamed(text: str) -> tuple[str, str]:
    name, sign, other = text.partition("=")
    if not (name and sign and other):
        raise UsageError(f"{text!r}: expected NAME=NAME, the reference's name first")
    return name, other
