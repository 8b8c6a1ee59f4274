"""Takes a running torch script; leaves a file of its distinct public calls.

This package is loaded into whatever interpreter runs the script, by its folder: it may import torch and the standard
library, and nothing of `autotest`.
"""
