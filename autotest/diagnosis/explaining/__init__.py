"""Takes a shrunk program and a pair; returns what its failure needs: a layout, a size, a dtype, some numbers."""
