"""Takes paths, expressions and recorded calls; returns tests with their ids and seeds, and programs to judge."""
