"""The run itself: schedule, blocks, interim analyses, and `run.py`, which reads from top to bottom."""
