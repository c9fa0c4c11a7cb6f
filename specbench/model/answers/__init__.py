"""Answers of both arms to one prompt: in memory while a pair runs, and what is kept of them afterwards."""
