"""Options of the process that runs the tests: seeds, numbers of trials, folders.

If a variable is not set, the table ``[tool.autotest]`` of the project's ``pyproject.toml`` can set the same option
under its lower-case name: ``candidate = "oneflow"``. A variable or command-line option takes precedence over the
arguments of a test's decorator, and these take precedence over the project's table.

=========================== ============================================================================
variable                    meaning
=========================== ============================================================================
``AUTOTEST_SEED``           base seed, an integer; ``random`` draws one, which reports name
``AUTOTEST_TRIAL``          index of the only trial to run
``AUTOTEST_N``              number of trials, instead of the test's own
``AUTOTEST_PROFILE``        how thorough to be, see `PROFILES`: ``dev``, ``ci`` (the default) or ``thorough``; other
                            variables take precedence over it
``AUTOTEST_DIR``            folder in which failures are stored, instead of ``.autotest``
``AUTOTEST_VERIFY``         ``0``: do not run a reproducer in a fresh interpreter before reporting it
``AUTOTEST_SHRINK``         seconds that shrinking may take; ``0`` turns it off
``AUTOTEST_COVERAGE``       ``1``: count the arguments that operators are given, as ``pytest`` does for its summary
``AUTOTEST_QUICK``          ``1``: neither shrink nor verify, for quick runs while writing a test
``AUTOTEST_LEDGER``         a ledger of known divergences, in addition to those stored with the tests
``AUTOTEST_SPECIAL_VALUES`` ``0``: draw no NaN, infinities and the like, and ignore differences on them; ``1``: draw
                            them also in tests that exclude them
``AUTOTEST_DEADLINE``       how long a trial in a worker process may take before it counts as a hang: ``20s``, ``2m``
``AUTOTEST_MEMORY``         memory that a worker process may use in addition to the frameworks' own: ``500M``, ``4G``
``AUTOTEST_IMPORT``         comma-separated modules to import before test files when pytest does not import them: in
                            ``autotest fuzz`` and in worker processes
``AUTOTEST_REFERENCE``      the reference framework; default ``torch``
``AUTOTEST_CANDIDATE``      the candidate framework; default ``oneflow``
``AUTOTEST_PROJECT``        the ``pyproject.toml`` whose table applies; default: the nearest one at or above the working
                            directory
=========================== ============================================================================
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import math
import os
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from autotest.base import project
from autotest.base.errors import UsageError
from autotest.base.project import variable_of
from autotest.base.settings import Settings
from autotest.base.units import duration, size
from autotest.base.working_folder import chosen_folder, working_folder

#: The names of the default reference and candidate.
DEFAULT_PAIR: Final = ("torch", "oneflow")

#: The environment variables that set an option.
VARIABLES: Final = tuple(map(variable_of, (*project.KEYS, "trial")))

#: The variable that names the `pyproject.toml` whose table applies.
PROJECT: Final = "AUTOTEST_PROJECT"
#: The variables that `Options` is built from; the others name the frameworks and the modules to import first.
_OF_OPTIONS: Final = tuple(
    name for name in VARIABLES if name not in ("AUTOTEST_REFERENCE", "AUTOTEST_CANDIDATE", "AUTOTEST_IMPORT")
)
#: All variables with a meaning: the options, and the path of the project file that can set them.
_KNOWN: Final = (*VARIABLES, PROJECT)

N = TypeVar("N", int, float)


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    """How thoroughly a run tests.

    Attributes:
        times: factor by which the number of trials of each test is multiplied.
        shrink: seconds that shrinking may take.
        half_precision: whether half-precision dtypes are drawn, too.
    """

    times: float
    shrink: float
    half_precision: bool = False


#: ``dev`` is for use while writing code, ``ci`` runs the tests as written, ``thorough`` is for a run over night.
PROFILES = {"dev": Profile(0.25, 1.0), "ci": Profile(1.0, 3.0), "thorough": Profile(10.0, 120.0, half_precision=True)}

#: Default limits of a trial in a worker process, in seconds and in bytes.
DEADLINE, MEMORY = 20.0, 4 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How this process runs its tests."""

    seed: int = 0
    #: Whether the run uses another base seed than the default 0, so that divergences expected of fixed seeds may not
    #: happen.
    exploring: bool = False
    #: Index of the only trial to run; None for all trials.
    trial: int | None = None
    #: Index of a test's first trial. Hypothesis chooses it for each of its examples.
    first_trial: int = 0
    #: Number of trials of every test; None for the test's own number.
    n: int | None = None
    #: Factor by which the number of trials of each test is multiplied.
    times: float = 1.0
    #: Whether a test's trials after the first twenty also draw half-precision dtypes.
    half_precision: bool = False
    #: Folder in which failures are stored.
    directory: Path = Path(".autotest")
    #: A ledger of known divergences that applies to all tests, in addition to those stored with the tests.
    ledger: Path | None = None
    #: Whether a reproducer is run in a fresh interpreter before it is reported.
    verify: bool = True
    #: Seconds that shrinking may take.
    shrink: float = 3.0
    #: Whether tests may draw NaN and the like, and whether differences on these count.
    special_values: bool = True
    #: Whether to count the arguments that operators are given.
    coverage: bool = False
    #: Whether trials that failed in earlier runs are run first.
    replays_failures: bool = True
    #: Whether failures are stored. Of the many examples that Hypothesis tries, only those that it reports are.
    keeps_failures: bool = True
    #: Limits of a trial in a worker process: seconds before it counts as a hang, and bytes.
    deadline: float = DEADLINE
    memory: int = MEMORY
    #: Fields set by the process's own variables, which take precedence over a test's arguments.
    explicit: frozenset[str] = frozenset()

    def of_test(self, settings: Settings) -> Options:
        """Return these options with the seed and deadline of `settings`, except those that the process sets."""
        if settings.seed is None and settings.deadline is None:
            return self
        own = {name: getattr(settings, name) for name in ("seed", "deadline")}
        changed = {name: value for name, value in own.items() if value is not None and name not in self.explicit}
        return dataclasses.replace(self, **changed) if changed else self

    def for_test(self, settings: Settings) -> Settings:
        """Return `settings` with special values as the process says, or else the test, or else the project."""
        said = settings.gives_special_values or not settings.special_values
        if settings.special_values == self.special_values or (said and "special_values" not in self.explicit):
            return settings
        return dataclasses.replace(settings, special_values=self.special_values, gives_special_values=False)

    def trials(self, own: int) -> int:
        """Return the number of trials to run of a test whose own number is `own`."""
        if self.trial is not None:
            return 1
        return self.n or max(1, math.ceil(own * self.times))

    def runs_whole(self, own: int) -> bool:
        """Whether at least the `own` trials of a test run; not for an example of Hypothesis, which has few inputs."""
        return self.trial is None and self.trials(own) >= own and self.replays_failures

    @property
    def runs_all_default_trials(self) -> bool:
        """Whether all trials of a test run with the default base seed, so that all known divergences must happen."""
        return not self.exploring and self.trial is None and self.n is None and self.times >= 1


def from_environment(
    environment: Mapping[str, str] | None = None, written_as: Callable[[str], str] = variable_of
) -> Options:
    """Return the options that `environment` sets.

    Args:
        environment: variables by name; by default those of the process, over the project's table.
        written_as: returns how error messages write the name of an option.

    Raises:
        UsageError: a variable has a value that is not allowed.
    """
    own, default = (_of_process(_OF_OPTIONS), active_project().variables) if environment is None else (environment, {})
    options = _asked_for(tuple(own.items()), tuple(default.items()), written_as, chosen_folder())
    if options.ledger is not None and not options.ledger.is_file():
        shown = _Values({**default, **own}, written_as).shown("ledger")
        raise UsageError(
            f"{shown}: expected a file, the ledger for all tests; correct the path, or leave it out, since ledgers "
            "beside the tests apply anyway"
        )
    if options.exploring and not options.seed:  # drawn here, outside the cached function, so that each call draws anew
        return dataclasses.replace(options, seed=secrets.randbits(32))
    return options


@functools.lru_cache(maxsize=16)  # every run of a test calls it
def _asked_for(
    own: tuple[tuple[str, str], ...],
    default: tuple[tuple[str, str], ...],
    written_as: Callable[[str], str],
    folder: str,
) -> Options:
    """Return the options of the process's `own` variables over the project's `default` ones.

    Paths are relative to `folder`, or to the working directory if it is empty.
    """
    given, explicit = _Values(dict(default + own), written_as), dict(own)
    drawn = given["seed"] == "random"
    seed = given.whole("seed", "a whole number, or random") if given["seed"] and not drawn else 0
    profile = given.profile()
    quick = given.flag("quick", default=False)
    return Options(
        seed=seed,
        exploring=drawn or seed != 0,
        trial=given.whole("trial", "the index of a trial, from 0") if given["trial"] else None,
        n=given.whole("n", "a number of trials, at least 1", least=1) if given["n"] else None,
        times=profile.times,
        half_precision=profile.half_precision,
        directory=Path(folder, given["dir"] or ".autotest"),
        ledger=Path(folder, given["ledger"]) if given["ledger"] else None,
        verify=given.flag("verify", default=not quick),
        special_values=given.flag("special_values", default=True),
        coverage=given.flag("coverage", default=False),
        shrink=given.seconds("shrink", 0.0 if quick else profile.shrink),
        deadline=given.measured("deadline", duration, DEADLINE),
        memory=given.measured("memory", size, MEMORY),
        explicit=frozenset(name for name in ("seed", "deadline", "special_values") if explicit.get(variable_of(name))),
    )


def from_project(found: project.Project) -> Options:
    """Return the options that a project sets.

    Raises:
        UsageError: a key of the project's table has a value that is not allowed; the message names the table.
    """
    try:
        return from_environment(found.variables, written_as=str)
    except UsageError as error:
        raise UsageError(f"[tool.autotest] of {found.file}: {error}") from None


def environment_now() -> Mapping[str, str]:
    """Return the non-empty `VARIABLES` of the process, over the defaults of its project."""
    return {**active_project().variables, **_of_process(VARIABLES)}


def _of_process(names: tuple[str, ...]) -> dict[str, str]:
    environment = os.environ  # test with `in` first: `get` raises and catches an exception for a missing variable
    return {name: value for name in names if name in environment and (value := environment[name])}


def configured(variable: str) -> str:
    """Return the value of one of the `VARIABLES` in the process, or else in its project; empty if neither sets it."""
    return os.environ.get(variable) or active_project().variables.get(variable, "")


def active_project() -> project.Project:
    """Return the project whose table applies: the one named by `PROJECT`, or that of the working directory.

    Raises:
        UsageError: the file cannot be read, or there is none.
    """
    named = os.environ.get(PROJECT)
    if not named:
        return working_project()
    try:
        return project.read(Path(named))
    except UsageError:
        if Path(named).is_file():
            raise
        raise UsageError(
            f"{PROJECT}={named!r}: there is no such file; expected the path of a pyproject.toml, or leave it unset to "
            "read the nearest one"
        ) from None


def working_project() -> project.Project:
    """Return the project of the working directory."""
    return project.of_folder(working_folder())


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """Return a warning for each unknown ``AUTOTEST_`` variable that is spelled similarly to a known one."""
    unknown = [name for name in environment if name.startswith("AUTOTEST_") and name not in _KNOWN]
    meant = {name: difflib.get_close_matches(name, _KNOWN, 1, 0.85) for name in sorted(unknown)}
    return [f"{name} is not a variable of autotest. Did you mean {near[0]}?" for name, near in meant.items() if near]


def configured_imports() -> tuple[str, ...]:
    """Return the modules that the environment of the process lists for import before test files."""
    return tuple(name.strip() for name in environment_now().get("AUTOTEST_IMPORT", "").split(",") if name.strip())


@dataclasses.dataclass(frozen=True, slots=True)
class _Values:
    """The values of an environment by option name; "" for an option that is not set."""

    environment: Mapping[str, str]
    #: Returns how error messages write the name of an option.
    written_as: Callable[[str], str]

    def __getitem__(self, name: str) -> str:
        return self.environment.get(variable_of(name), "")

    def shown(self, name: str) -> str:
        """Return the option and its value as error messages begin: ``AUTOTEST_SEED='soon'``."""
        return f"{self.written_as(name)}={self[name]!r}"

    def profile(self) -> Profile:
        name = self["profile"] or "ci"
        if name not in PROFILES:
            raise UsageError(f"{self.shown('profile')}: expected {', '.join(PROFILES)}")
        return PROFILES[name]

    def flag(self, name: str, *, default: bool) -> bool:
        if self[name] not in ("", "0", "1"):
            raise UsageError(f"{self.shown(name)}: expected 1 or 0; in a project's table, true or false")
        return self[name] == "1" if self[name] else default

    def whole(self, name: str, allowed: str, least: int = 0) -> int:
        try:
            value = int(self[name])
        except ValueError:
            value = least - 1
        if value < least:
            raise UsageError(f"{self.shown(name)}: expected {allowed}")
        return value

    def seconds(self, name: str, default: float) -> float:
        try:
            value = float(self[name] or default)
        except ValueError:
            value = -1.0
        if not 0 <= value < math.inf:
            raise UsageError(f"{self.shown(name)}: expected a number of seconds, 0 or more")
        return value

    def measured(self, name: str, read: Callable[[str, str], N], default: N) -> N:
        return read(self[name], self.shown(name)) if self[name] else default
