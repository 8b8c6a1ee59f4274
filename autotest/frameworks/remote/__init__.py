"""Takes calls for a framework in another interpreter; sends them there, runs them, and returns the results."""
