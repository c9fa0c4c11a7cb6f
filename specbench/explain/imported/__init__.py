"""What is said of results of other tools, and of two runs of ours beside each other."""
