"""Claims about the command that exports files."""
