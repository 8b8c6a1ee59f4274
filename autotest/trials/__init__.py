"""Takes the body of a test and a seed; leaves the outcome of one trial."""
