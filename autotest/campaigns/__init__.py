"""Takes many tests and an amount of time; runs their trials in worker processes and returns the findings."""
