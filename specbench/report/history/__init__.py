"""The history of a folder of runs: read, as text, and as files for other programs."""
