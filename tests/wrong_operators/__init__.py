"""Operators that are each wrong in one way, and the plainest test of each, which has to find it."""
