"""Takes results as data; returns text, Markdown, HTML, JUnit XML and JSON, and reads nothing else."""
