"""Claims about simulated weeks of live traffic."""
