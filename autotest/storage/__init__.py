"""Findings on disk: kept, read again and run again."""
