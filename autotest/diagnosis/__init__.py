"""Takes a failed Program and a pair; leaves the verdict, the first divergent call, a smaller Program and its script."""
