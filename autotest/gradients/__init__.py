"""Takes functions or Programs; leaves whether gradients are what differences say, and which were compared."""
