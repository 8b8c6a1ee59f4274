"""Operators that are wrong in one way each, and the plainest test of each, which must find it."""
