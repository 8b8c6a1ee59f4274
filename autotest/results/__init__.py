"""Takes the outcomes of trials; returns findings with their identities, ledgers and campaign progress, as data."""
