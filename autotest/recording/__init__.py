"""Takes the calls of a test body; leaves results on both sides, and a record of the calls that says what to compare."""

from autotest.recording.network import Network

__all__ = ["Network"]
