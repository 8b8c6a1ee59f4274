"""The exit statuses of the command `autotest`."""

#: What `--help` says of them.
EXPLAINED = (
    "Exit status: 0 nothing new was found, 1 something was, 2 the command line or the tests are wrong, 3 the tool "
    "itself failed or was interrupted."
)

NOTHING_NEW, FINDINGS, USAGE, FAILED = 0, 1, 2, 3
