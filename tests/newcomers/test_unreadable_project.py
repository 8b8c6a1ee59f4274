"""A `pyproject.toml` that cannot be used is a usage error that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from autotest.base import project
from autotest.base.errors import UsageError


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ('[project]\nname = "café"\n'.encode("latin-1"), "cannot be read as TOML"),
        (b"[project\n", "cannot be read as TOML"),
        (b'tool = "x"\n', r"\[tool\] is 'x'; expected a table"),
        (b'tool.autotest = "x"\n', r"\[tool.autotest\] is 'x'; expected a table"),
        (
            b"[tool.autotest]\nspecial-values = true\nspecial_values = false\n",
            "has both special-values and special_values; expected one of them",
        ),
        (b"[tool.autotest]\nseed = [1]\n", r"has seed = \[1\]; expected one value"),
        (b"[tool.autotest]\nmemory = {size = 4}\n", "has memory = {'size': 4}; expected one value"),
        (b"[tool.autotest]\ncandidate = []\n", r"has candidate = \[\]; expected text, or a list of texts that is not"),
        (b"[tool.autotest]\ncandidate = [1]\n", r"has candidate = \[1\]; expected text, or a list of texts"),
    ],
    ids=[
        *("not UTF-8", "not TOML", "tool is a text", "tool.autotest is a text", "one option twice"),
        *("a list of one", "a table of one", "an empty list", "a list of no texts"),
    ],
)
def test_an_unusable_project_file_is_a_usage_error_that_names_it(tmp_path: Path, content: bytes, reason: str) -> None:
    file = tmp_path / "pyproject.toml"
    file.write_bytes(content)
    with pytest.raises(UsageError, match=reason) as raised:
        project.read(file)
    assert str(raised.value).startswith(str(file))
