"""Takes functions to carry out in processes that may die; leaves what became of them, and the trail of a running trial."""
