"""What the process that runs the tests asks for: seeds, numbers of trials, places.

Where a variable is not set, the table ``[tool.autotest]`` of the project's ``pyproject.toml`` may say the same under
the name in small letters: ``candidate = "oneflow"``. What is asked for by a variable, or by an option, goes before what
a test's own decorator says, and that goes before the project's table.

=========================== ============================================================================
variable                    meaning
=========================== ============================================================================
``AUTOTEST_SEED``           base seed, a whole number; ``random`` draws one (and reports name it)
``AUTOTEST_TRIAL``          run only the trial of this index
``AUTOTEST_N``              number of trials, instead of the test's own
``AUTOTEST_PROFILE``        how thorough to be, see `PROFILES`: ``dev``, ``ci`` (the default) or ``thorough``; what
                            another variable says goes before it
``AUTOTEST_DIR``            where failures are kept, instead of ``.autotest``
``AUTOTEST_VERIFY``         ``0``: do not run a reproducer in a fresh interpreter before reporting it
``AUTOTEST_SHRINK``         seconds that shrinking may take; ``0`` turns it off
``AUTOTEST_COVERAGE``       ``1``: count what operators are given, as ``pytest`` does for its summary
``AUTOTEST_QUICK``          ``1``: neither shrink nor verify, for quick runs while writing a test
``AUTOTEST_LEDGER``         a ledger of known divergences beside those that lie with the tests
``AUTOTEST_SPECIAL_VALUES`` ``0``: draw no NaN, infinities and the like, and let no difference on them count
``AUTOTEST_DEADLINE``       how long a trial in a worker process may take before it counts as a hang: ``20s``, ``2m``
``AUTOTEST_MEMORY``         how much memory such a process may take on top of the frameworks': ``500M``, ``4G``
``AUTOTEST_IMPORT``         modules, with commas between, to import before test files where pytest does not import them:
                            in ``autotest fuzz``, and in worker processes
``AUTOTEST_REFERENCE``      the reference framework, ``torch``
``AUTOTEST_CANDIDATE``      the candidate framework, ``oneflow``
``AUTOTEST_PROJECT``        the ``pyproject.toml`` whose table holds; the nearest one above the working directory
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

#: The names of the reference and the candidate where nobody says otherwise.
DEFAULT_PAIR: Final = ("torch", "oneflow")

#: The variables that ask for something.
VARIABLES: Final = tuple(map(variable_of, (*project.KEYS, "trial")))

#: The variable that names the `pyproject.toml` whose table holds.
PROJECT: Final = "AUTOTEST_PROJECT"
#: Those that `Options` are made of: the others say which frameworks run, and what is imported first.
_OF_OPTIONS: Final = tuple(
    name for name in VARIABLES if name not in ("AUTOTEST_REFERENCE", "AUTOTEST_CANDIDATE", "AUTOTEST_IMPORT")
)
#: All, and the one that says where others may stand.
_KNOWN: Final = (*VARIABLES, PROJECT)

N = TypeVar("N", int, float)


@dataclasses.dataclass(frozen=True, slots=True)
class Profile:
    """How many times the trials that a test asks for, seconds of shrinking, and whether half precision is tried."""

    times: float
    shrink: float
    half_precision: bool = False


#: While writing code, as the tests say, and over night.
PROFILES = {"dev": Profile(0.25, 1.0), "ci": Profile(1.0, 3.0), "thorough": Profile(10.0, 120.0, True)}

#: Seconds and bytes that a trial in a worker process may take.
DEADLINE, MEMORY = 20.0, 4 << 30


@dataclasses.dataclass(frozen=True, slots=True)
class Options:
    """How this process runs its tests."""

    seed: int = 0
    #: Whether `seed` was drawn for this run, so that what a test expects of fixed seeds does not hold.
    exploring: bool = False
    trial: int | None = None
    n: int | None = None
    #: How many times the trials that a test asks for.
    times: float = 1.0
    #: Whether a test's trials past the first twenty draw dtypes of half precision, too.
    half_precision: bool = False
    directory: Path = Path(".autotest")
    #: A ledger of known divergences that holds for all tests, beside those that lie with them.
    ledger: Path | None = None
    verify: bool = True
    #: Seconds.
    shrink: float = 3.0
    #: Whether tests may draw NaN and the like, and differences on these count.
    special_values: bool = True
    #: Whether to count what operators are given.
    coverage: bool = False
    #: Whether what failed in earlier runs is tried first.
    remembers: bool = True
    #: Of a trial in a worker process: seconds before it counts as a hang, and bytes.
    deadline: float = DEADLINE
    memory: int = MEMORY
    #: Fields that the process itself was asked for, which go before what a test says.
    asked: frozenset[str] = frozenset()

    def of_test(self, settings: Settings) -> Options:
        """These options, with what a test says itself where the process was not asked for anything else."""
        if settings.seed is None and settings.deadline is None:
            return self
        own = {name: getattr(settings, name) for name in ("seed", "deadline")}
        changed = {name: value for name, value in own.items() if value is not None and name not in self.asked}
        return dataclasses.replace(self, **changed) if changed else self

    def trials(self, own: int) -> int:
        """How many trials to run of a test that asks for `own`."""
        if self.trial is not None:
            return 1
        return self.n or max(1, math.ceil(own * self.times))

    @property
    def usual(self) -> bool:
        """Whether every trial that a test asks for is run as always, so that all it is known to do must happen."""
        return not self.exploring and self.trial is None and self.n is None and self.times >= 1


def from_environment(
    environment: Mapping[str, str] | None = None, spelled: Callable[[str], str] = variable_of
) -> Options:
    """The options that `environment` (the process's own by default) asks for.

    Raises `UsageError`, which speaks of an option as `spelled` writes its name.
    """
    own, default = (_of_process(_OF_OPTIONS), in_force().variables) if environment is None else (environment, {})
    options = _asked_for(tuple(own.items()), tuple(default.items()), spelled)
    if options.ledger is not None:
        _Given({**default, **own}, spelled).must_be_file("ledger", "the ledger that is to hold for all tests")
    if options.exploring and not options.seed:  # by a seed that is drawn anew each time
        return dataclasses.replace(options, seed=secrets.randbits(32))
    return options


@functools.lru_cache(maxsize=16)  # every run of a test asks
def _asked_for(
    own: tuple[tuple[str, str], ...], default: tuple[tuple[str, str], ...], spelled: Callable[[str], str]
) -> Options:
    """The options of the process's `own` variables and those that its project sets by `default`."""
    given, asked = _Given(dict(default + own), spelled), dict(own)
    drawn = given["seed"] == "random"
    seed = given.whole("seed", "a whole number, or random") if given["seed"] and not drawn else 0
    profile = given.profile()
    quick = given["quick"] not in ("", "0")
    return Options(
        seed=seed,
        exploring=drawn or seed != 0,
        trial=given.whole("trial", "the index of a trial, from 0") if given["trial"] else None,
        n=given.whole("n", "a number of trials, at least 1", least=1) if given["n"] else None,
        times=profile.times,
        half_precision=profile.half_precision,
        directory=Path(given["dir"] or ".autotest"),
        ledger=Path(given["ledger"]) if given["ledger"] else None,
        verify=(given["verify"] or ("0" if quick else "1")) != "0",
        special_values=given["special_values"] != "0",
        coverage=given["coverage"] not in ("", "0"),
        shrink=given.seconds("shrink", 0.0 if quick else profile.shrink),
        deadline=given.measured("deadline", duration, DEADLINE),
        memory=given.measured("memory", size, MEMORY),
        asked=frozenset(name for name in ("seed", "deadline") if asked.get(variable_of(name))),
    )


def from_project(found: project.Project) -> Options:
    """What a project asks for; raises `UsageError` that speaks of its table."""
    try:
        return from_environment(found.variables, spelled=str)
    except UsageError as error:
        raise UsageError(f"[tool.autotest] of {found.file}: {error}") from None


def environment_now() -> Mapping[str, str]:
    """The process's `VARIABLES`, over what its project says by default; those that are empty are left out."""
    return {**in_force().variables, **_of_process(VARIABLES)}


def _of_process(names: tuple[str, ...]) -> dict[str, str]:
    environment = os.environ  # `in` comes first since `get` raises and catches an exception for what is missing
    return {name: value for name in names if name in environment and (value := environment[name])}


def said(variable: str) -> str:
    """What the process says by one of its `VARIABLES`, or else its project does; empty where neither does."""
    return os.environ.get(variable) or in_force().variables.get(variable, "")


def in_force() -> project.Project:
    """The project whose table holds: the one that was named, or that of the working directory."""
    named = os.environ.get(PROJECT)
    return project.read(Path(named)) if named else here()


def here() -> project.Project:
    """The project of the working directory."""
    return project.of_folder(os.getcwd())  # noqa: PTH109 - every test asks, and a path of pathlib's is slow to look up


def misspelt(environment: Mapping[str, str]) -> list[str]:
    """What to say of variables that mean nothing, and are spelled nearly like one that means something."""
    unknown = [name for name in environment if name.startswith("AUTOTEST_") and name not in _KNOWN]
    meant = {name: difflib.get_close_matches(name, _KNOWN, 1, 0.85) for name in sorted(unknown)}
    return [f"{name} means nothing. Did you mean {near[0]}?" for name, near in meant.items() if near]


def imports(environment: Mapping[str, str] | None = None) -> tuple[str, ...]:
    """The modules that `environment` (the process's own by default) wants imported before test files are."""
    given = environment_now() if environment is None else environment
    return tuple(name.strip() for name in given.get("AUTOTEST_IMPORT", "").split(",") if name.strip())


@dataclasses.dataclass(frozen=True, slots=True)
class _Given:
    """What an environment says, by the names of options; "" where it says nothing."""

    environment: Mapping[str, str]
    #: How messages call an option.
    spelled: Callable[[str], str]

    def __getitem__(self, name: str) -> str:
        return self.environment.get(variable_of(name), "")

    def shown(self, name: str) -> str:
        """What is given, as messages begin: ``AUTOTEST_SEED='soon'``."""
        return f"{self.spelled(name)}={self[name]!r}"

    def profile(self) -> Profile:
        name = self["profile"] or "ci"
        if name not in PROFILES:
            raise UsageError(f"{self.shown('profile')}: expected {', '.join(PROFILES)}")
        return PROFILES[name]

    def whole(self, name: str, allowed: str, least: int = 0) -> int:
        try:
            value = int(self[name])
        except ValueError:
            value = least - 1
        if value < least:
            raise UsageError(f"{self.shown(name)}: expected {allowed}")
        return value

    def must_be_file(self, name: str, what: str) -> None:
        if not Path(self[name]).is_file():
            raise UsageError(f"{self.shown(name)}: expected a file; {what}")

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
