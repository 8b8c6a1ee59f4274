"""Takes a failed program and a pair; returns where the sides diverge first, and the verdict on who is wrong."""
