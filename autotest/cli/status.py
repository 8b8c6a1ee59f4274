"""The exit statuses of the command `autotest`."""

NOTHING_NEW, FINDINGS, USAGE, FAILED = 0, 1, 2, 3
