"""Takes databases of inputs and a pair; returns the map of agreement, cell by cell."""
