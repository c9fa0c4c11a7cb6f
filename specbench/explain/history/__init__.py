"""The sentences of a history of runs."""
