"""Takes paths and expressions; leaves the tests that trials are made of, their ids and their seeds."""
