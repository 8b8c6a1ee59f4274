"""Takes results as data; leaves text, Markdown, JUnit XML and JSON, and reads nothing but its input."""
