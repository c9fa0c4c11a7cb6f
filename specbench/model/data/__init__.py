"""What people bring: datasets, and results of other tools."""
