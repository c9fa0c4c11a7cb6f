"""Comparisons of two files or two runs, in the formats that people and programs read."""
