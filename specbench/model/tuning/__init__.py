"""The values of a tune, and of what confirms it."""
