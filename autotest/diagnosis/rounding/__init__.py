"""Takes a program and a pair; returns what rounding explains, by other precisions and perturbed inputs."""
