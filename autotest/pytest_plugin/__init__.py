"""The pytest plugin: takes pytest's options and reports; adds a header, differences as reports, and a summary."""

from autotest.pytest_plugin.plugin import pytest_addoption, pytest_configure, pytest_ignore_collect

__all__ = ["pytest_addoption", "pytest_configure", "pytest_ignore_collect"]
