"""Takes a test and the options of a run; runs its trials and raises on a difference or an earlier crash."""
