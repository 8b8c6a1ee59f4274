"""Takes the tasks of a campaign; runs them by agents on the machines of a cluster and returns the results."""
