"""Takes what trials came to; leaves findings with their identities, ledgers, and the progress of campaigns, as data."""
