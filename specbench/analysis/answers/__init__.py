"""Answers of both arms to one prompt: which are compared, where they part, and what follows for the verdict."""
