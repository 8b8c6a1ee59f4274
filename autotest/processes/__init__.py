"""Takes the position of a running trial; leaves its trail, and how its process ended."""
