"""The command that looks for the highest rate of each arm."""
