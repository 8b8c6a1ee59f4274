"""The pytest plugin: options, a header, the reproducers of failures, and a summary.

It is registered by an entry point, so every pytest run of an environment with this library imports it. Therefore this
file imports only the standard library and pytest; the rest is imported when the first autotest runs. Everything also
works without the plugin (``-p no:autotest``), but less comfortably.

Options become ``AUTOTEST_*`` variables while the session lasts, because worker processes need them too. The results of
a test are attached to its report as plain data, so that they pass through pytest-xdist.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from autotest.pytest_plugin import command_line
from autotest.pytest_plugin.examples import given_test, is_autotest

if TYPE_CHECKING:
    from autotest.base.settings import Settings
    from autotest.campaigns.isolated_runner import IsolatedRunner
    from autotest.pytest_plugin.summaries import RanTest
    from autotest.recording.outside_trials import OutsideDraws
    from autotest.report.session import TestSummary
    from autotest.running.tally import Tally
    from autotest.sources.test_names import CollectedName
    from autotest.trials.context import RunContext
    from autotest.trials.decorated import Test


def pytest_addoption(parser: pytest.Parser) -> None:
    command_line.add(parser)


def pytest_configure(config: pytest.Config) -> None:
    command_line.apply(config)
    config.pluginmanager.register(Session(config), "autotest-session")
    from autotest.pytest_plugin.lost_workers import LostWorkers
    from autotest.pytest_plugin.unmatched_ledgers import UnmatchedLedgers

    config.pluginmanager.register(LostWorkers(config), "autotest-lost-workers")
    config.pluginmanager.register(UnmatchedLedgers(config), "autotest-unmatched-ledgers")
    expression = config.getoption("autotest_sweep")
    if expression is not None:
        _sweep(config, expression)


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Leave scripts of findings out of ``--doctest-modules``, which would import them: they exit at their end."""
    if collection_path.suffix != ".py":
        return None
    folder = collection_path.parent
    stored = collection_path.name == "repro.py" and (folder / "failure.json").exists()
    # Scripts of one of several candidates are a folder deeper.
    known = (above.parent for above in (folder, folder.parent) if above.name == "reproducers")
    return True if stored or any(any(tests.glob("ledger*.toml")) for tests in known) else None


class Session:
    """The data that one pytest session collects about its autotests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._summaries: list[TestSummary] = []
        self._isolated: IsolatedRunner | None = None
        self._running: pytest.StashKey[TestSummary] = pytest.StashKey()
        self._names: Mapping[str, CollectedName] = {}
        self._draws: pytest.StashKey[OutsideDraws | None] = pytest.StashKey()

    # -- before the tests -------------------------------------------------------------------------------

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Give a worker of pytest-xdist this session's seed; the worker reads the command line itself."""
        seed = os.environ.get("AUTOTEST_SEED")
        if seed is not None:
            node.workerinput["autotest_seed"] = seed

    def pytest_report_header(self) -> str | None:
        named = [f"{name} {os.environ[variable]}" for name, variable in _variables() if os.environ.get(variable)]
        return f"autotest: {', '.join(named)}" if named else None

    @pytest.hookimpl(tryfirst=True)  # names, and so seeds, must not depend on which tests are deselected
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        tests = [item for item in items if is_autotest(item)]
        if tests:
            from autotest.pytest_plugin.called_items import names

            self._names = names(tests)

    def pytest_report_collectionfinish(self, items: Sequence[pytest.Item]) -> list[str] | None:
        tests = [asked for item in items if (asked := _settings(item)) is not None]
        if not tests:
            return None
        from autotest.base.options import configured
        from autotest.pytest_plugin.called_items import renamed
        from autotest.pytest_plugin.header import sides
        from autotest.report import session

        # Otherwise each test reports the same mistake. A worker of pytest-xdist that ends here is an internal error.
        if not hasattr(self._config, "workerinput"):
            command_line.check_frameworks()
        seed = configured("AUTOTEST_SEED") or "0"
        isolated = self._config.getoption("autotest_isolate")
        header = session.header(len(tests), len(items) - len(tests), sides(tests), seed, isolated)
        selected = {item.nodeid: self._names[item.nodeid] for item in items if item.nodeid in self._names}
        return [header, *(f"autotest: {line}" for line in renamed(selected))]

    # -- around a test ----------------------------------------------------------------------------------

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        item.stash[self._draws] = None  # a repeated test begins anew
        with self._drawing(item):
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any, request: Any) -> Iterator[None]:
        if not self._names:
            yield
            return
        from autotest.sources.outside_draws import drawing_of_fixture

        with drawing_of_fixture(fixturedef, request):
            yield

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        from autotest.pytest_plugin import unittest_items
        from autotest.running.run_hooks import run_hook

        tallies: list[RanTest] = []
        # Below Hypothesis' `@given`, it always runs in this process, also with `--autotest-isolate`.
        if hasattr(given_test(item), "__autotest__"):
            _import_frameworks()

        def listen(test: Test, context: RunContext, tally: Tally) -> None:
            tallies.append((test.id, context, tally))

        with (
            run_hook(listen),
            self._isolated_if_needed(item),
            self._collected_name(item),
            self._shown(),
            self._working_folder(item),
            self._drawing(item),
        ):
            unittest_items.prepare(item, is_decorated=_settings(item) is not None)
            yield
        if tallies:
            from autotest.pytest_plugin import summaries

            item.stash[self._running] = summaries.of_item(tallies, isolated=self._isolated is not None)

    @pytest.hookimpl(tryfirst=True)
    def pytest_pyfunc_call(self, pyfuncitem: pytest.Function) -> None:
        """Fail a test that returns dual tensors but is not decorated: it compared nothing."""
        if _settings(pyfuncitem) is None:
            from autotest.pytest_plugin.undecorated import fail_if_dual_returned

            pyfuncitem.obj = fail_if_dual_returned(pyfuncitem.obj)

    @contextlib.contextmanager
    def _shown(self) -> Iterator[None]:
        """Show slow activities on the terminal, past pytest's capturing, if pytest writes to a terminal."""
        reporter: Any = self._config.pluginmanager.get_plugin("terminalreporter")
        with contextlib.ExitStack() as stack:
            if getattr(reporter, "isatty", False):
                from autotest.report.activity import shown_on

                with contextlib.suppress(OSError):
                    terminal = stack.enter_context(open("/dev/tty", "w", encoding="utf-8"))  # noqa: PTH123
                    stack.enter_context(shown_on(terminal))
            yield

    @contextlib.contextmanager
    def _collected_name(self, item: pytest.Item) -> Iterator[None]:
        called = self._names.get(item.nodeid)
        if called is None:
            yield
            return
        from autotest.sources.test_names import collected_as

        with collected_as(called):
            yield

    @contextlib.contextmanager
    def _drawing(self, item: pytest.Item) -> Iterator[None]:
        """Let the set-up of an autotest, and the autotest between its trials, draw numbers of its own."""
        called = self._names.get(item.nodeid)
        if called is None:
            yield
            return
        from autotest.sources.outside_draws import draws_of_test
        from autotest.sources.pytest_items import arguments_of

        name = called.id((), arguments_of(item))
        draws = item.stash.get(self._draws, None) or draws_of_test(name, called.function)
        item.stash[self._draws] = draws
        with draws.drawing():
            yield

    @contextlib.contextmanager
    def _working_folder(self, item: pytest.Item) -> Iterator[None]:
        """Store the findings of an autotest where pytest was started, also if a fixture changes the directory."""
        if not is_autotest(item):
            yield
            return
        from autotest.base.working_folder import working_from

        with working_from(str(self._config.invocation_params.dir)):
            yield

    @contextlib.contextmanager
    def _isolated_if_needed(self, item: pytest.Item) -> Iterator[None]:
        """Run an autotest's trials in a worker process, which sets up its own fixtures, with `--autotest-isolate`."""
        if not self._config.getoption("autotest_isolate") or not is_autotest(item):
            yield
            return
        from autotest.campaigns.isolated_runner import IsolatedRunner
        from autotest.trials.driver import driven_by

        if self._isolated is None:
            self._isolated = IsolatedRunner()
        with driven_by(self._isolated):
            yield

    def pytest_unconfigure(self) -> None:
        if self._isolated is not None:
            self._isolated.close()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
        outcome: Any = yield
        report: pytest.TestReport = outcome.get_result()
        if call.when != "call":
            return
        excinfo = call.excinfo if report.failed else None
        error = excinfo.value if excinfo is not None else None
        summary = item.stash.get(self._running, None) or getattr(item, "summary", None)
        if summary is not None:
            from autotest.pytest_plugin import reproduction, summaries
            from autotest.report import session

            summaries.note_end(summary, error, failed=report.outcome != "passed")
            properties = list(session.properties(summary))
            item.user_properties += properties
            report.user_properties += properties
            report.autotest = summary  # type: ignore[attr-defined]
            if summary["found"]:
                reproduction.add_reproduction(report, summary["found"], self._config)
        judged = _settings(item) is not None or hasattr(item, "summary")
        if excinfo is not None and judged and not self._config.getoption("fulltrace"):
            from autotest.pytest_plugin.failures import show_briefly

            show_briefly(report, item, excinfo)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        summary: TestSummary | None = getattr(report, "autotest", None)
        if summary is not None:
            self._summaries.append(summary)
            if report.failed and not hasattr(self._config, "workerinput"):
                from autotest.pytest_plugin.failures import colour

                colour(report)

    # -- after the tests --------------------------------------------------------------------------------

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        if not self._summaries:
            return
        from autotest.report import session

        terminalreporter.section("autotest")
        for line in session.summary(self._summaries, shutil.get_terminal_size().columns):
            terminalreporter.write_line(line)
        if self._config.getoption("autotest_coverage"):
            from autotest.pytest_plugin import coverage_table
            from autotest.results.coverage import merged

            terminalreporter.section("autotest coverage")
            for line in coverage_table.lines(merged(summary["covered"] for summary in self._summaries)):
                terminalreporter.write_line(line)


def _sweep(config: pytest.Config, expression: str) -> None:
    """Collect the operators of a sweep, and nothing else if no path was given."""
    from autotest.pytest_plugin.sweep import SweepItems

    if expression and Path(expression.partition("::")[0]).exists():
        raise pytest.UsageError(
            f"--autotest-sweep {expression}: {expression} was read as the expression; put paths before the option, "
            f"or write --autotest-sweep=EXPR"
        )
    if config.args_source is not config.ArgsSource.ARGS:
        config.args = []
    config.pluginmanager.register(SweepItems(expression), "autotest-sweep")


def _settings(item: pytest.Item) -> Settings | None:
    """Return what ``@autotest`` asks for, on `item` itself or below its ``@given``."""
    return getattr(getattr(item, "function", None) if is_autotest(item) else given_test(item), "__autotest__", None)


def _import_frameworks() -> None:
    """Import both frameworks, which takes seconds: Hypothesis has a deadline for each example, also the first."""
    from autotest.base.errors import AutotestError
    from autotest.frameworks import chosen_pair

    with contextlib.suppress(AutotestError):  # the test itself reports the error
        chosen_pair().load()


def _variables() -> Iterator[tuple[str, str]]:
    for name in ("seed", "trial", "n", "profile", "reference", "candidate"):
        yield name, f"AUTOTEST_{name.upper()}"
