"""Requests, scheduling and decoding: one step after another."""
