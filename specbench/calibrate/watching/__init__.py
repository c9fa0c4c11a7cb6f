"""Simulated weeks of live traffic through the judge of `watch`: how often it errs, and how soon it sees."""
