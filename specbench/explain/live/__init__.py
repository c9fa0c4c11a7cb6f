"""Sentences on live traffic: why the watch is in its state, and what it prints."""
