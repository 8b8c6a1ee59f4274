"""Writes the expected reports again, or only the named ones: ``python -m tests.golden [NAME ...]``."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

from tests.golden.reports import EXPECTED, REPORTS


def main(names: list[str]) -> None:
    EXPECTED.mkdir(exist_ok=True)
    for name in names or REPORTS:
        with tempfile.TemporaryDirectory() as folder:
            os.environ.update(settings(Path(folder)))
            (EXPECTED / f"{name}.txt").write_text(REPORTS[name](Path(folder)), encoding="utf-8")


def settings(folder: Path) -> dict[str, str]:
    """Set the environment of the reports: without settings of the outer run, and with findings in `folder`."""
    outer = {name: "" for name in os.environ if name.startswith("AUTOTEST_")}
    return {**outer, "AUTOTEST_DIR": str(folder / "kept"), "AUTOTEST_VERIFY": "0"}


if __name__ == "__main__":
    main(sys.argv[1:])
