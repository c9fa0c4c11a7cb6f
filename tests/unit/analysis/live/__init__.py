"""Claims about live traffic."""
