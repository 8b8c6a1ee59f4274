"""Takes the calls of a test body; runs them on both sides and returns the record of calls and results."""

from autotest.recording.network import Network

__all__ = ["Network"]
