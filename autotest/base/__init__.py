"""Takes nothing of this library; leaves errors, settings of tests, options of runs, and units of time and size."""
