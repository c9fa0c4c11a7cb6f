"""The command that reads a folder of runs over time."""
