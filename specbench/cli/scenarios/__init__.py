"""Scenarios on the command line: the one that is given, with what its options change, and a first one that `init` writes."""
