"""Takes paths, expressions and recorded calls; leaves tests with their ids and seeds, and programs to judge."""
