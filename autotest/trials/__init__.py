"""Takes a test body and a seed; returns the outcome of one trial and its judgement."""
