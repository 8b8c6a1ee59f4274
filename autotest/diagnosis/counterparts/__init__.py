"""Takes the name of an operator and arrays; returns what NumPy computes for it, written from torch's documentation."""
