"""Takes two models that exist, one of each framework; leaves how they were matched and where they differ, as data."""
