"""Takes the tasks of a campaign; leaves their results, which agents on the machines of a cluster worked out."""
