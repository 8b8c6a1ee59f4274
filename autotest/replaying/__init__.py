"""Takes a recorded Program and frameworks; leaves what each side gives when it runs again, eagerly or in a graph."""
