"""Takes functions to call in processes that may die; leaves how these ended, and the trail of a running trial."""
