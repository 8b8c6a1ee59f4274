"""Takes a call and its operands; returns independent opinions on its result, by NumPy and finite differences."""
