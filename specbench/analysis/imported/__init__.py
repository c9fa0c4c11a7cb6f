"""Two arms as another tool measured them, and two runs of ours: comparisons that are pure and promote nothing."""
