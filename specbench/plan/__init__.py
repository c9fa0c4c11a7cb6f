"""What would run, in which order, for how long, and what difference it could detect."""
