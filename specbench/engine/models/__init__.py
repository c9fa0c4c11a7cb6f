"""Small language models, their text and their tokens."""
