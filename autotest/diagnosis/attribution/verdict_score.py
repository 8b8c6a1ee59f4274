"""Measures how often verdicts are right, on divergences with a known wrong side."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from autotest.base.errors import NotReplayable, UsageError
from autotest.base.settings import Settings
from autotest.diagnosis.attribution.referee import examine
from autotest.diagnosis.attribution.verdict import Evidence, Verdict, WrongSide, judge
from autotest.frameworks import Pair
from autotest.replaying.agreement import agree
from autotest.replaying.operator_of_mismatch import MismatchNames
from autotest.results.identity import DEADLY
from autotest.results.ledger import LedgerEntry
from autotest.sources.reproducers import body_of, tolerance_of, with_shared_state
from autotest.trials.trial import run_without_comparison

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

FILE = "verdicts.toml"
_WRONG: tuple[WrongSide, ...] = ("candidate", "reference", "both", "nobody")


@dataclasses.dataclass(frozen=True, slots=True)
class Label:
    """The side that is wrong in a divergence, and the proof: documentation, or an independent computation."""

    wrong: WrongSide
    because: str


@dataclasses.dataclass(frozen=True, slots=True)
class Score:
    """The verdict on one divergence with a known wrong side."""

    key: str
    known: Label
    verdict: Verdict | None
    #: Why there is no verdict.
    trouble: str = ""

    @property
    def right(self) -> bool:
        return self.verdict is not None and self.verdict.wrong == self.known.wrong

    @property
    def open(self) -> bool:
        """Whether the verdict accuses no side, so that it is neither right nor wrong."""
        return self.verdict is None or self.verdict.wrong == ""


def read(path: Path) -> dict[str, Label]:
    """Return the labels in one ``verdicts.toml``, by the keys of their ledger entries.

    Raises:
        UsageError: the file cannot be read, an entry is invalid, or a key has two labels.
    """
    found: dict[str, Label] = {}
    for position, table in enumerate(_tables(path), start=1):
        where = f"{path}: known {position}"
        if table.get("wrong") not in _WRONG or not str(table.get("because", "")).strip():
            raise UsageError(f"{where}: expected wrong = one of {', '.join(_WRONG)}, and because = the proof")
        keys = table.get("keys")
        if not isinstance(keys, list) or not keys or not all(isinstance(key, str) for key in keys):
            raise UsageError(f"{where}: expected keys = a list of keys of the ledger, got {keys!r:.80}")
        for key in keys:
            if key in found:
                raise UsageError(f"{where}: {key} has two labels")
            found[key] = Label(table["wrong"], table["because"])
    return found


def _tables(path: Path) -> list[dict[str, Any]]:
    """Return the tables ``[[known]]`` of one file."""
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path}: no verdicts can be read there: {error.strerror}") from error
    except ValueError as error:  # it is no TOML, or not even UTF-8
        raise UsageError(f"{path}: cannot be read as TOML: {error}") from error
    for name in content:
        if name != "known":
            raise UsageError(f"{path}: unknown {name!r}; expected only [[known]], once for each list of keys")
    tables = content.get("known", [])
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise UsageError(f"{path}: expected [[known]] with two brackets: there may be several")
    return tables


def scores(
    entries: Iterable[LedgerEntry], known: dict[str, Label], folder: Path, pair: Pair, on_score: Callable[[Score], Any]
) -> Sequence[Score]:
    """Judge the reproducer of each ledger entry that has a label.

    Args:
        entries: the ledger entries.
        known: the labels, by key.
        folder: the folder that contains the reproducers.
        pair: the reference and the candidate.
        on_score: called with each score as soon as it is known.
    """
    found: list[Score] = []
    entries = list(entries)
    # These reproducers crash or hang, so they are not run here, even for other entries that name them.
    deadly = {entry.reproducer for entry in entries if entry.symptom in DEADLY}
    for entry in entries:
        if entry.key in known:
            dies = entry.reproducer in deadly
            found.append(_score(entry, known[entry.key], folder, pair, dies=dies))
            on_score(found[-1])
    return found


def _score(entry: LedgerEntry, known: Label, folder: Path, pair: Pair, *, dies: bool) -> Score:
    if dies:  # the verdict follows from the symptom alone
        return Score(entry.key, known, judge(Evidence(entry.symptom, pair.sides)))
    path = folder / entry.reproducer
    try:
        return Score(entry.key, known, verdict_on(path.read_text(encoding="utf-8"), str(path), pair, entry))
    except Exception as error:  # noqa: BLE001 - a script that cannot be judged is scored as having no verdict
        return Score(entry.key, known, None, f"{type(error).__name__}: {error}")


@np.errstate(all="ignore")
def verdict_on(script: str, place: str, pair: Pair, entry: LedgerEntry) -> Verdict:
    """Return the verdict on the difference that the reproducer of `entry` shows.

    Args:
        script: the text of the reproducer.
        place: its path, for messages.
        pair: the reference and the candidate.
        entry: the ledger entry.

    Raises:
        NotReplayable: the reproducer shows no difference.
    """
    rtol, atol = tolerance_of(script) or (None, None)
    settings = Settings(auto_backward=False, check_errors=True, rtol=rtol, atol=atol)
    program = with_shared_state(run_without_comparison(body_of(script, place), 0, settings, pair).program)
    agreement = agree(program, pair, settings)
    if not agreement.mismatches:
        raise NotReplayable(f"{place} shows no difference" + (f": {agreement.refused}" if agreement.refused else ""))
    names = MismatchNames(program, pair, settings)
    about = [item for item in agreement.mismatches if entry.covers(item, names.operator(item))]
    if about:
        agreement = agreement.beginning_with(about[0])
    return examine(agreement, pair, settings).verdict
