"""Formats findings as annotations that GitHub shows next to the lines of a change."""

from __future__ import annotations

from pathlib import Path

from autotest.report.campaign import why_ungraphed
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
    lines += [
        f"::warning title=Broken test::{_data(test.where.test)}: {_data(test.broken)}" for test in progress.broken
    ]
    lines += [
        f"::warning title=Gradients not compared::{_data(test.where.test)}: {_data(complaint)}"
        for test in progress.forgetful
        for complaint in test.complaints
    ]
    lines += [
        f"::warning title=Zeros accepted::{_data(test.where.test)}: {_data(test.passes_zeros)}"
        for test in progress.passing_zeros
    ]
    lines += [
        f"::warning title=Nothing in graph mode::{_data(test.where.test)}: {_data(why_ungraphed(test))}"
        for test in progress.ungraphed
    ]
    lines += [
        f"::warning title=Refused by the reference::{_data(test.where.test)}: {_data(next(iter(test.rejections)))}"
        for test in progress.refused
    ]
    lines += [f"::warning title=Broken file::{_data(name)}: {_data(why)}" for name, why in progress.files_broken]
    return lines


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
