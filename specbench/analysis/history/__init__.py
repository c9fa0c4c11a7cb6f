"""Runs in their order: series of their figures, where those changed, and what else changed there."""
