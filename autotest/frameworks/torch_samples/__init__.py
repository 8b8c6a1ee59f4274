"""Takes torch's databases and public names; returns entries, and a program for each of their samples."""
