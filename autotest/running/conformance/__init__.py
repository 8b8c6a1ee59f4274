"""Takes an adapter of a framework; returns which of the requirements on adapters it meets."""
