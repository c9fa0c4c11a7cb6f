"""The sentences of a tune and of what confirms it."""
