"""Takes functions or Programs; returns whether gradients match finite differences, and which were compared."""
