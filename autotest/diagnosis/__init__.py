"""From a failed trial, or a process that died, to what is wrong, where, and the smallest program that shows it."""
