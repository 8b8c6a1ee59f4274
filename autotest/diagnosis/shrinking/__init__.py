"""Takes a failed trial or program; returns a smaller one that fails in the same way."""
