"""Takes functions to run in processes that may die; returns how each process ended and the trail of its last call."""
