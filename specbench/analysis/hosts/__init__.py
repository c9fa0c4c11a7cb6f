"""Whether the two hosts may be compared."""
