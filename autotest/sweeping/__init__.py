"""Takes databases of inputs and a pair; leaves the map of what agrees, cell by cell."""
