"""Sets environment variables, for the length of the session, from pytest's command line and the project's table."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import pytest

#: The options: name (which is also that of the variable), metavar and help, which lists the choices if there are any.
OPTIONS = (
    ("seed", "N", "base seed of all trials: a whole number, or random (0 when left out)"),
    ("n", "N", "number of trials of each test, instead of its own number"),
    ("profile", "NAME", "how thorough: dev (a quarter of the trials), ci (as the tests say), thorough (ten times)"),
    ("candidate", "NAME", "the framework under test: a registered name or MODULE:FACTORY; separate several by commas"),
    ("deadline", "20s", "time limit of a trial in a worker process; a longer one is a hang"),
    ("memory", "4G", "memory limit of a worker process, in addition to the memory of the frameworks"),
    ("ledger", "FILE", "a ledger of known divergences, in addition to those beside the tests"),
)


def add(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("autotest", "differential autotesting")
    for name, metavar, said in OPTIONS:
        group.addoption(f"--autotest-{name}", metavar=metavar, default=None, help=said)
    group.addoption(
        "--autotest-quick",
        action="store_true",
        help="neither shrink a failure nor verify its reproducer: for quick runs while writing a test",
    )
    group.addoption(
        "--autotest-isolate",
        action="store_true",
        help="run trials in a worker process: a crash, a hang or too much memory ends only that process",
    )
    group.addoption(
        "--autotest-sweep",
        nargs="?",
        const="",
        metavar="EXPR",
        help="one item for each operator that both frameworks have, without a test file; EXPR selects operators "
        "(--autotest-sweep='pool and float32'). Nothing else is collected unless a path is given on the command "
        "line",
    )
    group.addoption(
        "--autotest-coverage",
        action="store_true",
        help="print a table of the inputs that each operator got and did not get",
    )
    parser.addini(
        "autotest_special_values",
        "whether NaN, infinities, -0.0, subnormal and the largest numbers are drawn, and differences on them count",
        type="bool",
        default=True,
    )


def apply(config: pytest.Config) -> None:
    """Set the environment variables, which worker processes need too. Raises `pytest.UsageError` for invalid values."""
    asked = {f"AUTOTEST_{name.upper()}": config.getoption(f"autotest_{name}") for name, _, _ in OPTIONS}
    wanted = {variable: str(value) for variable, value in asked.items() if value is not None}
    if config.getoption("autotest_quick"):
        wanted["AUTOTEST_QUICK"] = "1"
    if not config.getini("autotest_special_values") and not os.environ.get("AUTOTEST_SPECIAL_VALUES"):
        wanted["AUTOTEST_SPECIAL_VALUES"] = "0"  # the environment takes precedence over files
    file, project = _project(config)
    controllers = getattr(config, "workerinput", {}).get("autotest_seed")
    if controllers is not None:
        wanted["AUTOTEST_SEED"] = controllers
    elif (wanted.get("AUTOTEST_SEED") or os.environ.get("AUTOTEST_SEED") or project.get("AUTOTEST_SEED")) == "random":
        # Drawn once, so that the whole session has one seed and can report it.
        wanted["AUTOTEST_SEED"] = str(secrets.randbits(32))
    if wanted:
        _check(wanted)
    if any(name.startswith("AUTOTEST_") for name in os.environ):
        _check_variables(config, {**os.environ, **wanted})
    if project:
        wanted["AUTOTEST_PROJECT"] = str(file)  # absolute: a test may change the working directory
    wanted["AUTOTEST_COVERAGE"] = "1"
    before = {variable: os.environ.get(variable) for variable in wanted}
    os.environ.update(wanted)
    config.add_cleanup(lambda: _restore(before))


def _project(config: pytest.Config) -> tuple[Path, Mapping[str, str]]:
    """Return the project's file and the variables that its table sets; report unknown keys as pytest reports its own.

    The file is the one that AUTOTEST_PROJECT names, or else the ``pyproject.toml`` in pytest's root folder, if it has
    the table, or else the nearest one, as without pytest.
    """
    named, start = os.environ.get("AUTOTEST_PROJECT"), config.invocation_params.dir
    nearest = next((one for one in (start, *start.parents) if (one / "pyproject.toml").is_file()), start)
    files = [Path(named).absolute()] if named else [one / "pyproject.toml" for one in (config.rootpath, nearest)]
    if not named and not any(map(_names_us, files)):
        return files[0], {}
    from autotest.base import options, project
    from autotest.base.errors import UsageError

    try:
        read = [options.active_project()] if named else [project.read(file) for file in files if file.is_file()]
        found = next((one for one in read if one.variables or one.unknown), read[0])
        options.from_project(found)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    file = found.file or files[0]
    for key in found.unknown:
        said = project.unknown_key(key, file)
        if config.getoption("strict_config", False) or config.getoption("strict", False):
            raise pytest.UsageError(said)
        config.issue_config_time_warning(pytest.PytestConfigWarning(said), stacklevel=2)
    return file, found.variables


def _names_us(file: Path) -> bool:
    """Return whether `file` may have the table; to parse a file without it would import the library for nothing."""
    return file.is_file() and "autotest" in file.read_text(encoding="utf-8")


def _check_variables(config: pytest.Config, environment: Mapping[str, str]) -> None:
    """Raise `pytest.UsageError` for invalid environment variables before anything is run; warn about misspelt ones."""
    from autotest.base import options
    from autotest.base.errors import UsageError

    try:
        options.from_environment(environment)
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    for said in options.misspelt(environment):
        config.issue_config_time_warning(pytest.PytestConfigWarning(said), stacklevel=2)


def _check(wanted: Mapping[str, str]) -> None:
    """Raise `pytest.UsageError` for invalid values of the options."""
    from autotest.base.errors import UsageError
    from autotest.base.options import from_environment

    try:
        from_environment(wanted, lambda name: f"--autotest-{name}")
    except UsageError as error:
        raise pytest.UsageError(str(error)) from None
    if "AUTOTEST_CANDIDATE" in wanted:
        _must_be_known("candidate", wanted["AUTOTEST_CANDIDATE"], "--autotest-candidate")


def check_frameworks() -> None:
    """Raise `pytest.UsageError` if the environment, or the project's table, names a framework that does not exist."""
    from autotest.base.options import active_project, configured

    for name in ("reference", "candidate"):
        variable = f"AUTOTEST_{name.upper()}"
        asked = configured(variable)
        if asked:
            table = f"[tool.autotest] of {active_project().file}: {name}"
            _must_be_known(name, asked, variable if os.environ.get(variable) else table)


def _must_be_known(name: str, asked: str, setting: str) -> None:
    """Raise `pytest.UsageError` if `asked`, the reference or the candidates, is not the name of a framework.

    Several candidates are written as ``NAME,OTHER``; none may stand there twice.
    """
    from autotest.base.errors import FrameworkMissing, UsageError
    from autotest.frameworks.registry import must_be_known, must_be_known_candidates

    try:
        check = must_be_known_candidates if name == "candidate" else must_be_known
        check(asked)
    except (FrameworkMissing, UsageError) as error:
        raise pytest.UsageError(f"{setting}={asked!r}: {error}") from None


def _restore(before: Mapping[str, str | None]) -> None:
    for variable, value in before.items():
        if value is None:
            os.environ.pop(variable, None)
        else:
            os.environ[variable] = value
