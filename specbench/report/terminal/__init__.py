"""Reports for a terminal or a CI log: lines of at most 80 columns, colours where they are wanted, plain characters where not."""
