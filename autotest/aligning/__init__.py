"""Takes one existing model of each framework; returns how they were matched and where they differ, as data."""
