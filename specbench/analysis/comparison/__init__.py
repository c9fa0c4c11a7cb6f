"""Two arms side by side: ratios, intervals, and what cannot be compared."""
