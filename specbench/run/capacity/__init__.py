"""The search for capacity: blocks at rates that the blocks before them choose, and what they come to."""
