"""Takes many tests and an amount of time; leaves what came of their trials, which run in processes that may die."""
