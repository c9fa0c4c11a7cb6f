"""`export`: its options, and the files that it writes."""
