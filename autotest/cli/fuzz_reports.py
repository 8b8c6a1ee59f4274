"""The report files of a campaign: JSON, JUnit XML, an HTML page, and what GitHub shows."""

from __future__ import annotations

import argparse
import contextlib
import datetime as dt
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path

from autotest.base import options
from autotest.base.versions import installed
from autotest.cli.report_files import ReportFile, write_reports
from autotest.frameworks import chosen_pair
from autotest.report import campaign_json, github, junit, markdown, sweep_html
from autotest.results import sweep_format
from autotest.results.campaign_map import campaign_map
from autotest.results.progress import CampaignProgress
from autotest.storage import trends


def write_all(progress: CampaignProgress, arguments: argparse.Namespace) -> None:
    """Write the report files that the command line asks for."""
    sides = chosen_pair().sides

    def as_json() -> str:
        return json.dumps(campaign_json.as_data(progress, sides, _versions(sides)), indent=1) + "\n"

    reports: list[ReportFile] = [
        (arguments.json, as_json),
        (arguments.junitxml, lambda: junit.as_xml(progress)),
        (arguments.html, lambda: _page(progress, arguments)),
    ]
    try:
        write_reports(reports, lambda: markdown.campaign(progress))
    finally:
        if os.environ.get("GITHUB_ACTIONS") == "true":
            for line in github.workflow_commands(progress, Path.cwd()):
                print(line)


def _versions(sides: Sequence[str]) -> dict[str, str]:
    """Return the installed version of each side, as far as it has one: importing a framework takes seconds."""
    return {side: version for side in sides if (version := installed(side))}


def _page(progress: CampaignProgress, arguments: argparse.Namespace) -> str:
    """Return the page of the campaign, with the scripts, and with the trend of earlier campaigns."""
    sides = chosen_pair().sides
    scripts = {}
    for found in progress.found.values():
        with contextlib.suppress(OSError):
            scripts[found.key] = (Path(found.place) / "repro.py").read_text(encoding="utf-8")
    date = dt.datetime.now(dt.timezone.utc).date().isoformat()
    command = shlex.join(["autotest", *sys.argv[1:]])
    swept, findings = campaign_map(progress, sides, _versions(sides), scripts, command, date)
    what = f"fuzz {shlex.join(map(str, arguments.paths))} -k {arguments.k!r} against {sides[1]}"
    history = trends.append_run(options.from_environment().directory, what, date, swept.counts())
    return sweep_html.page({**sweep_format.as_data(swept, findings), "rows": "test", "history": list(history)})
