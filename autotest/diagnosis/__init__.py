"""Takes a failed Program and a pair; returns the verdict, the first divergent call, a smaller Program and a script."""
