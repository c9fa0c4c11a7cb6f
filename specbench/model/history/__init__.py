"""What a folder of runs shows over time."""
