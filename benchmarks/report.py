"""Reports measurements: as a table for the terminal, as Markdown, as JSON, and as a chart."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.contenders import BY_HAND, OURS, THEIRS
from benchmarks.results import Row

_MARKS = {True: "holds", False: "FALLS SHORT", None: ""}


def heading(section: str) -> str:
    return f"\n{section}\n{'-' * len(section)}"


def line(row: Row) -> str:
    """Return one row for the terminal: median, quartiles, goal, and milliseconds per trial of each contender."""
    goal = "" if row.goal is None else f"{'<=' if row.at_most else '>='} {row.goal:g}"
    spread = f"[{_number(row.spread.low)} .. {_number(row.spread.high)}]"
    times = ", ".join(f"{name} {_number(1e3 * seconds)} ms" for name, seconds in row.seconds.items())
    median = f"{_number(row.spread.median)} {row.unit}"
    return f"  {row.name:<46} {median:>10} {spread:<18} {goal:<8} {_MARKS[row.holds]:<12} {times}".rstrip()


def _number(value: float) -> str:
    return f"{value:.0f}" if value >= 99.5 else f"{value:.3g}"


def markdown(rows: Sequence[Row], machine: dict[str, Any]) -> str:
    """Return all rows as one Markdown table, below a line that describes the machine."""
    versions = ", ".join(f"{name} {machine[name]}" for name in ("torch", "oneflow", "numpy", "hypothesis"))
    measured = (
        f"Measured on {machine['cores']} cores of {machine['processor']}, load {machine['load'][0]:g}, CPython "
        f"{machine['python']}, {versions}. Medians, with quartiles, of turns that were taken side by side."
    )
    lines = [
        measured,
        "",
        "| what | | median | quartiles | goal | |",
        "|---|---|---|---|---|---|",
    ]
    for row in rows:
        goal = "" if row.goal is None else f"{'≤' if row.at_most else '≥'} {row.goal:g}"
        spread = f"{_number(row.spread.low)} to {_number(row.spread.high)}"
        cells = (row.section, row.name, f"{_number(row.spread.median)} {row.unit}", spread, goal, _MARKS[row.holds])
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def write_json(path: Path, rows: Sequence[Row], machine: dict[str, Any]) -> None:
    """Write the machine and the rows as JSON to `path`; times are in seconds."""
    path.write_text(json.dumps({"machine": machine, "rows": [row.data() for row in rows]}, indent=1), encoding="utf-8")


def draw(path: Path, rows: Sequence[Row]) -> bool:
    """Draw the milliseconds per trial of each contender as bars.

    Returns:
        Whether a chart was written: it is not if Matplotlib is missing or no trials were timed.
    """
    timed = [row for row in rows if OURS in row.seconds and THEIRS in row.seconds and row.section.startswith("OneFlow")]
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    if not timed:
        return False
    sections = list(dict.fromkeys(row.section for row in timed))
    figure = Figure(figsize=(6.5 * len(sections), 5), layout="constrained")
    for place, section in enumerate(sections, 1):
        axes = figure.add_subplot(1, len(sections), place)
        here = [row for row in timed if row.section == section]
        names = [name for name in (OURS, BY_HAND, THEIRS) if name in here[0].seconds]
        for shift, name in enumerate(names):
            at = [index + 0.26 * (shift - (len(names) - 1) / 2) for index in range(len(here))]
            axes.barh(at, [1e3 * row.seconds[name] for row in here], height=0.24, label=name)
        axes.set_yticks(range(len(here)), [row.name for row in here])
        axes.invert_yaxis()
        axes.set_xscale("log")
        axes.set_xlabel("milliseconds a trial (logarithmic)")
        axes.set_title(section.partition(", ")[2])
        axes.legend()
    figure.savefig(path)
    return True
