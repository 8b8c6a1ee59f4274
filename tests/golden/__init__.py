"""Whole reports are compared with the files in `expected/`; ``python -m tests.golden`` writes these again."""
