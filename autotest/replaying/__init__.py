"""Takes a recorded Program and frameworks; returns what each side computes when it runs again, eager or as a graph."""
