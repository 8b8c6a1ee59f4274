"""Takes a test and the options of a run; leaves a passed test, or raises what its trials or earlier deaths came to."""
