"""Trials by the thousand, in processes that may die of them: who runs which, for how long, and what came of it."""
