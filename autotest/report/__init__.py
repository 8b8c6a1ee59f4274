"""Telling: findings and tallies as text, for people. Pure renderers; nothing here prints or touches files."""
