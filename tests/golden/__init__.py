"""Whole reports, compared with what stands in `expected/`; ``python -m tests.golden`` writes them anew."""
