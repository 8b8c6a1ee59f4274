"""How fast the library is, measured beside what one would use instead: ``python -m benchmarks``.

Nothing of the library imports this folder, and no test depends on a time. It may import frameworks, since what it
measures against is written in them.
"""
