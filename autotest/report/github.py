"""Formats findings as annotations that GitHub shows next to the lines of a change."""

from __future__ import annotations

from pathlib import Path

from autotest.report.campaign_troubles import why_ungraphed
from autotest.results.progress import CampaignProgress


def workflow_commands(progress: CampaignProgress, root: Path) -> list[str]:
    """Return an error for each finding, at the file of its test relative to `root`, and warnings about tests."""
    lines = []
    for found in progress.found.values():
        identity = found.identity
        file = found.where.file
        shown = file.relative_to(root) if file.is_relative_to(root) else file
        title = _property(f"{identity.operator}: {identity.symptom} ({identity.stage})")
        message = f"{found.where.test}\n{found.message}\nReproducer: {found.script} ({found.verified})"
        lines.append(f"::error file={_property(str(shown))},title={title}::{_data(message)}")
    warnings = [
        *(("Broken test", test.where.test, test.broken) for test in progress.broken),
        *(("Gradients not compared", test.where.test, why) for test in progress.forgetful for why in test.complaints),
        *(("Zeros accepted", test.where.test, test.passes_zeros) for test in progress.passing_zeros),
        *(("Nothing in graph mode", test.where.test, why_ungraphed(test)) for test in progress.ungraphed),
        *(("Refused by the reference", test.where.test, next(iter(test.rejections))) for test in progress.refused),
        *(("Broken file", name, why) for name, why in progress.files_broken),
    ]
    return lines + [f"::warning title={title}::{_data(what)}: {_data(why)}" for title, what, why in warnings]


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
