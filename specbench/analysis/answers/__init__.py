"""Answers of both arms to one prompt: which are compared, and where they part."""
