"""Answers of both arms to one prompt: which are compared, where they part, and whether speculation changes what the model says."""
